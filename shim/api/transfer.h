/* SPDX-License-Identifier: MIT */
/* What the entry points for reading, writing, copying and mapping share. */
#ifndef GS_SHIM_API_TRANSFER_H
#define GS_SHIM_API_TRANSFER_H

#include "shim/api/api.h"
#include "shim/coherence/coherence.h"

/* From how many stretches, each on one device, the bytes of the root come; at most `most`. */
unsigned gs_count_holders(const struct gs_mem *root, struct gs_range r, unsigned most);

/* So few bytes go no other way than the driver's own. */
static inline bool gs_transfer_is_direct(uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    return bytes <= 64 * 1024 && (path == GS_TRANSFER_AUTO || path == GS_TRANSFER_PLAIN);
}

/* One command on objects of ours that the driver carries out at home: begun with gs_home_begin, which locks the
 * context; ranges are brought home with gs_home_need; gs_home_run enqueues it, with home.n and home.v for a wait list;
 * what it writes is told with gs_home_wrote, and gs_home_end unlocks. */
struct gs_home {
    bool by_units;
    struct gs_putting put; /* by whose job */
    const struct gs_putting *put_before;
    bool at_once; /* the call blocks until the command has ended, and nothing comes before it in its queue, in order */
    struct gs_unit unit; /* of a command of one unit: the unit is given back when the command has ended */
    struct gs_command cmd;
    struct gs_events extra; /* transfers, and then the application's wait list as well */
    cl_uint n;
    const cl_event *v;
    struct gs_queue_mark upto; /* at its end */
    bool marked;               /* the call's transfer had its marker before its end: see gs_carry_mark */
    struct gs_mem *used;       /* without the context's lock: another thread may have let it go meanwhile; or null */
    cl_int err;
};

/* reads: it gets results for the host, or ends the host's access to them. */
void gs_home_begin(struct gs_home *h, const struct gs_command *cmd, bool reads);
/* An empty range: the command writes the object, needs none of its bytes, and comes after transfers into home. */
void gs_home_need(struct gs_home *h, struct gs_mem *m, struct gs_range of_root);
/* The wait list is complete: h->n, h->v. */
cl_int gs_home_ready(struct gs_home *h);
/* Enqueues it, by units or at once: in pieces, or a map or unmap as one unit of the link. *own is then the command's
 * event, of the type given, unless `own` is null and nobody else needs one. */
cl_int gs_home_run(struct gs_home *h, const struct gs_op *op, cl_command_type type, cl_event *own);
/* May a call carry out a transfer that needn't block? Not if it waits for commands or other applications' units. */
bool gs_home_may_carry(const struct gs_home *h);
void gs_home_wrote(struct gs_home *h, struct gs_mem *m, struct gs_range of_root);

/* The bytes of an object that a transfer reads or changes. No object: an object that isn't ours. */
struct gs_side {
    struct gs_mem *m;
    struct gs_range r; /* bytes of its root */
    bool covers;       /* the transfer changes all of these bytes */
};

/* Do other places hold bytes of it that home doesn't? What changes them without the context's lock is noted before the
 * driver is asked: should it refuse, home would count as having them. With that lock held. */
bool gs_home_is_invalid(struct gs_side side);

/* Does another call use bytes without the context's lock that this command changes, or change some that it reads? Then
 * the application's queue alone has an order for the two. With that lock held. */
bool gs_home_is_in_use(struct gs_side src, struct gs_side dst);

/* Where there is no daemon, none of the context's bytes have ever been elsewhere than at home, and the object that the
 * command writes, if it does, has no undefined bytes: hands the command on to the driver. `side` is that object, or one
 * that it reads. False: it isn't so, and nothing was done. */
bool gs_home_passes(const struct gs_command *cmd, struct gs_side side, bool writes, cl_int *err);

/* Carries a read of a buffer out by one call of the driver, without the context's lock, if it may: it blocks, asks for
 * few bytes, and none of the context's bytes have ever been elsewhere than at home. Under a daemon it asks for 4 KiB at
 * most, and no other application is connected. False: it isn't so, and nothing was done. */
bool gs_home_reads(const struct gs_command *cmd, struct gs_side src, cl_int *err);

/* Carries a transfer out at home that reads `src` and changes `dst`. `staged`: the same transfer as pieces between the
 * host's memory and a device, which may go through the ring; or null. */
cl_int gs_home_transfer(const struct gs_command *cmd, struct gs_side src, struct gs_side dst,
                        const struct gs_staged *staged);

/* A transfer's call, its entry point's last: carries it out, or hands it on. Not of reads and writes of bytes. */
cl_int gs_transfer_command(struct gs_command *cmd);

/* Tries to copy where the bytes lie, with the context's lock held meanwhile. False: copy at home. */
bool gs_copy_in_place(const struct gs_command *cmd, const struct gs_side *from, const struct gs_side *to);

/* A command that does nothing but stand in the application's queue, of the type given. */
cl_int gs_home_mark(struct gs_home *h, cl_command_type type, cl_event *own);

cl_int gs_home_end(struct gs_home *h, cl_int err);

/* Is it a command with the host's memory and a sound wait list? Else the driver is to say what is wrong. */
bool gs_home_is_valid(const struct gs_home *h);

/* gs_call_unlocked for a read or a write, once h has begun; it ends h. */
cl_int gs_home_by_call(struct gs_home *h, struct gs_side src, struct gs_side dst);

/* Carries it out, once h has begun, as gs_home_transfer does. */
cl_int gs_home_carry(struct gs_home *h, struct gs_side src, struct gs_side dst, const struct gs_staged *staged);

/* Has a write of a buffer's bytes, once h has begun, been handed to the GPU of the job, where that is one and not the
 * first? *own is its event then. False: it is to go home; t is that. */
bool gs_write_to_place(struct gs_home *h, struct gs_mem *m, const struct gs_staged *t, cl_event *own);

/* A read or write of a root's places by the ring. */
struct gs_ring_use {
    struct gs_carry carried; /* first */
    struct gs_host_use use;
    struct gs_mem *m, *root; /* m: the call's own, which holds its root */
    struct gs_range r;       /* of the root */
    const struct gs_staged *v;
    unsigned n;
    struct gs_events ready; /* what it must come after beside h's wait list; or, without a marker, all that is before */
    cl_event marker;        /* behind all that is before; or null. Where the call needn't block the ring is entered */
    bool telling;           /* its time tells of the link to the host, if it needn't wait for anything */
};

/* gs_staging_may_carry has said so. Is the transfer to go through the ring? Then it has its marker, as the memory that
 * a call which blocks reads may be written until then; or it has entered the ring. */
bool gs_ring_ready(struct gs_home *h, struct gs_ring_use *w);

/* Gives the context's lock back for a transfer that the call carries out, with *own as its event (gs_carry_begin). */
void gs_carry_unlock(struct gs_home *h, struct gs_ring_use *w);
cl_int gs_carry_lock(struct gs_home *h, struct gs_ring_use *w, cl_int err, struct gs_staged_ends *ended, cl_event *own);

/* Carries it out by the ring as one command, *own. Gives the context's lock back meanwhile. */
cl_int gs_carry_by_ring(struct gs_home *h, struct gs_ring_use *w, cl_event *own);

/* Reads r, in bytes of m's root, from where it is valid, if the driver would take the command: t, if all is at home. */
cl_int gs_read(const struct gs_command *cmd, struct gs_mem *m, struct gs_range r, const struct gs_staged *t);

/* The bytes of a buffer that a region of rows covers, from its first to its last; empty where an argument overflows. */
struct gs_range gs_rect_range(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch);

/* A call whose command was given to the driver without blocking, so that the lock was not held for long: waits where
 * the application asked for it (`own` is null where the driver has done so), and hands the event out or drops it. */
cl_int gs_home_wait(const struct gs_command *cmd, cl_int err, cl_event own);

/* gs_home_end, and a wait for the command where the call blocks: then all earlier commands have ended as well. */
cl_int gs_home_end_and_wait(struct gs_home *h, cl_int err, cl_event own);

/* Where a command on rows begins, in either, and its region; as the application gave them, who may have given null. */
static inline void gs_set_box(struct gs_op *op, const size_t *from, const size_t *to, const size_t *region)
{
    op->no_from = !from;
    op->no_to = !to;
    op->no_region = !region;
    for (int d = 0; d < 3; d++) {
        op->from[d] = from ? from[d] : 0;
        op->to[d] = to ? to[d] : 0;
        op->region[d] = region ? region[d] : 0;
    }
}

/* Is the range inside the object? Else the driver's error is wanted, not ours. */
static inline bool gs_inside(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    return !m->image && bytes && offset <= m->size && bytes <= m->size - offset;
}

/* ---- initial.c: memory that is made with contents (CL_MEM_COPY_HOST_PTR) moves bytes without any command: of a large
 * buffer through the pinned ring; for a scheduled application by units of the link, of a buffer piece by piece, of an
 * image as one. The call waits for them, as it waits for the driver's copy. ---- */

/* Is that to go by units? */
bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr);

/* Such a buffer, as by clCreateBuffer; *kept gains flags of it that the driver doesn't know. With no lock held. */
cl_mem gs_initial_buffer(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err);

/* Around a call of the driver that makes memory with contents: one unit. `wanted` false: none. */
void gs_initial_begin(bool wanted, struct gs_unit *u);
void gs_initial_end(struct gs_unit *u);

#endif
