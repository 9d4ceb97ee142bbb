/* SPDX-License-Identifier: MIT */
/* What the entry points for reading, writing, copying and mapping share. A command is done at home in this order, from
 * gs_home_begin to gs_home_end with the context's lock:
 *
 *   gs_home_begin -> gs_home_need, for each object -> gs_home_ready -> gs_home_run -> gs_home_wrote, for each
 *   -> gs_home_end, or gs_home_end_and_wait
 *
 * gs_home_by_way goes from gs_home_need to the end; gs_home_transfer all the way. */
#ifndef GS_SHIM_API_HOME_H
#define GS_SHIM_API_HOME_H

#include "shim/api/api.h"
#include "shim/coherence/coherence.h"

/* In how many extents, each in one place, the range's bytes lie; counts to `most`. */
unsigned gs_count_holders(const struct gs_mem *root, struct gs_range r, unsigned most);

/* Few bytes always go the driver's own way. */
static inline bool gs_transfer_is_direct(uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    return bytes <= 64 * 1024 && (path == GS_TRANSFER_AUTO || path == GS_TRANSFER_PLAIN);
}

/* A command on objects of ours, done at home behind the list n, v. */
struct gs_home {
    struct gs_command cmd; /* first */
    struct gs_job job;     /* cmd.units */
    const struct gs_command *put_before;
    bool at_once;           /* the call blocks, and no unended command comes before in its in-order queue */
    struct gs_unit unit;    /* of a command of one unit, which is given back at the command's end */
    struct gs_events extra; /* transfers; from gs_home_ready on the application's wait list too */
    cl_uint n;
    const cl_event *v;
    unsigned upto;       /* the number of the queue's newest command, behind this one */
    struct gs_mem *used; /* in use without the context's lock; perhaps released meanwhile; or null */
    cl_int err;
    struct gs_side src, dst; /* what a transfer reads, and what it changes */
    /* Of a transfer that the call may carry through the ring: */
    struct gs_op_run *runs; /* n_runs of them, each of bytes in one place; null: the ring doesn't carry such commands */
    unsigned n_runs;
    struct gs_events ready; /* events to wait for, beside the wait list; without `start`, all earlier commands */
    cl_event start;  /* a marker behind all earlier commands; or null. A call that needn't block has entered the ring */
    bool vain;       /* the ring has been asked for, and had no time */
    bool times_link; /* the transfer's time is to tell of the link; not if a wait is in it */
};

/* The one side of a transfer between the host's memory and an object. */
static inline struct gs_side *gs_home_side(struct gs_home *h)
{
    return h->dst.m ? &h->dst : &h->src;
}

/* reads: the command gets results for the host, or ends the host's access to results. */
void gs_home_begin(struct gs_home *h, const struct gs_command *cmd, bool reads);
/* Brings the range home. Empty: the command writes the object, needs no bytes, and comes after transfers to home. */
void gs_home_need(struct gs_home *h, struct gs_mem *m, struct gs_range of_root);
/* Completes the wait list h->n, h->v. */
cl_int gs_home_ready(struct gs_home *h);
/* Enqueues the operation, by units or at once; transfers in pieces, a map or unmap as one unit of the link. *own: the
 * command's event; `own` null: no event, unless somebody else needs one. */
cl_int gs_home_run(struct gs_home *h, const struct gs_op *op, cl_event *own);
/* May the call carry a transfer although it needn't block? Not if it might wait for commands or others' units. */
bool gs_home_may_carry(const struct gs_home *h);
void gs_home_wrote(struct gs_home *h, struct gs_mem *m, struct gs_range of_root);

/* Is another call, without the context's lock, using bytes that this command changes, or changing bytes that it reads?
 * Then only the application's queue orders both. With the lock held. */
bool gs_home_is_in_use(struct gs_home *h);

/* Facts of a command before the context's lock is taken. `written`: the object that it changes, or null. `direct`: it
 * has few bytes, or is of a kind that the ring doesn't carry. */
static inline unsigned gs_home_facts(const struct gs_mem *written, bool direct)
{
    return (direct ? GS_FACT_DIRECT : 0) | (gs_scheduled() ? GS_FACT_UNITS : 0) | (written ? GS_FACT_WRITES : 0) |
           (written && !gs_is_defined(written) ? GS_FACT_NEW : 0);
}

/* Hands the command on if the table says so, and all bytes have always been at home. False: nothing was done. */
bool gs_try_pass(const struct gs_command *cmd, struct gs_side side, unsigned facts, cl_int *err);

/* Reads a buffer by one call of the driver without the context's lock, if the read blocks, asks for few bytes, and all
 * bytes were always at home; under a daemon 4 KiB at most, and no other application. False: nothing was done. */
bool gs_try_pass_read(const struct gs_command *cmd, struct gs_side src, cl_int *err);

/* Carries out at home a transfer that reads `src` and changes `dst`. `staged`: the transfer for the ring, between the
 * host's memory and a device; or null. */
cl_int gs_home_transfer(const struct gs_command *cmd, struct gs_side src, struct gs_side dst, struct gs_op_run *staged);

/* The end of a transfer's entry point: carries it out or hands it on. Not for reads and writes of a buffer's bytes. */
cl_int gs_transfer_command(struct gs_command *cmd);

/* Tries to copy in the places where the bytes lie, with the context's lock held. False: the caller copies at home. */
bool gs_copy_in_place(const struct gs_command *cmd, const struct gs_side *from, const struct gs_side *to);

/* The command does nothing but stand in the application's queue. */
cl_int gs_home_mark(struct gs_home *h, cl_event *own);

cl_int gs_home_end(struct gs_home *h, cl_int err);

/* Has the command a host address and a sound wait list? If not, the driver says what is wrong. */
bool gs_home_is_valid(const struct gs_home *h);

/* gs_call_unlocked for a read or a write, once h has begun and has its side; it ends h. */
cl_int gs_home_by_call(struct gs_home *h);

/* gs_home_transfer once h has begun and has its sides: by a call, by the ring or by the queue (gs_host_way). Ends h. */
cl_int gs_home_by_way(struct gs_home *h, struct gs_op_run *staged);

/* Tries to write a buffer's bytes (t, as a transfer to home) directly to the places that want the bytes, or to the
 * job's GPU, if that is one GPU and not the first. True: enqueued, with *own. False: the caller writes to home. h has
 * begun, and has its side. */
bool gs_write_to_place(struct gs_home *h, const struct gs_op_run *t, cl_event *own);

/* Reads bytes from where they are valid, if the driver would take the command. t: the transfer if all were at home. */
cl_int gs_read_from_places(const struct gs_command *cmd, struct gs_side src, const struct gs_op_run *t);

/* The range from the first to the last byte of a region of rows; empty if an argument overflows. */
struct gs_range gs_rect_range(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch);

/* Ends a call whose command went to the driver without blocking, so that the lock was held briefly: waits if the
 * application asked to block (`own` null: the driver has waited), and hands the event out or releases it. */
cl_int gs_home_wait(const struct gs_command *cmd, cl_int err, cl_event own);

/* gs_home_end, and a wait if the call blocks: all earlier commands have ended then, too. */
cl_int gs_home_end_and_wait(struct gs_home *h, cl_int err, cl_event own);

/* Sets a command's begin on both sides, and its region, from the application's pointers, which may be null. */
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

/* Is the range inside the object? If not, the driver's error is wanted. */
static inline bool gs_mem_has(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    return !m->image && bytes && offset <= m->size && bytes <= m->size - offset;
}

/* ---- ring_use.c: transfers that a call carries itself, while the context is unlocked (put/put.h) ---- */

/* gs_staging_may_carry has said yes: does the transfer h->runs go through the ring? If so, a blocking call has its
 * marker, since memory that the call reads may be written until then; another call has entered the ring. */
bool gs_ring_takes(struct gs_home *h);

/* Around a transfer that the call carries, entered and left with the context locked, which is unlocked in between:
 * gs_carry_begin, and gs_carry_end with *own as the event. */
void gs_home_carry_begin(struct gs_home *h);
cl_int gs_home_carry_end(struct gs_home *h, cl_int err, cl_event *own);

/* Carries the transfer through the ring as one command, *own. The context is unlocked meanwhile. */
cl_int gs_carry_by_ring(struct gs_home *h, cl_event *own);

/* Notes a write of a buffer's bytes at its places, without counting the bytes as left by a launch. */
void gs_ring_wrote(struct gs_home *h);

#endif
