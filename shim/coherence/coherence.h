/* SPDX-License-Identifier: MIT */
/* Which bytes of a memory object are valid in which place, and the transfers that make bytes valid. Ranges of an image
 * are of whole bands (see gs_mem). With the context's lock held; nothing blocks.
 *
 * Invariant: each byte of a root is valid in at least one place, or undefined. */
#ifndef GS_SHIM_COHERENCE_COHERENCE_H
#define GS_SHIM_COHERENCE_COHERENCE_H

#include "shim/memory/object.h"
#include "shim/staging/staging.h"

/* Looks which transfers and split launches have ended, and forgets these. Bytes of transfers that failed are no longer
 * valid; those of failed launches are spoiled. */
void gs_settle(struct gs_mem *root);

/* CL_OUT_OF_RESOURCES if bytes of r are spoiled. */
cl_int gs_check_spoiled(const struct gs_mem *root, struct gs_range r);

/* Nobody knows these bytes' values until they are written again: what wrote or brought them has failed. */
void gs_spoil(struct gs_mem *root, struct gs_range r);

/* A failed launch has changed bytes in a place: now invalid there. CL_OUT_OF_RESOURCES: some were valid only there. */
cl_int gs_undo(struct gs_mem *root, unsigned place, const struct gs_rangeset *changed);

/* A split launch that writes to the root ends with `end`. Retains `end`. */
void gs_split_writes(struct gs_mem *root, cl_event end);

/* Makes the bytes `want` of a root valid at home. `done` gains the events that the command must wait for. */
cl_int gs_require_home(struct gs_command *cmd, struct gs_mem *root, struct gs_range want, struct gs_events *done);

/* Makes bytes valid in several places at a time, each named once, so that bytes which the places get from each other
 * travel together. `exactly`: undefined bytes are made equal too. */
cl_int gs_require_all(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w, unsigned n, bool exactly);

/* A split launch that writes the root has been enqueued. Brings what the launches behind it are expected to fetch
 * (prefetch.h) once its parts have ended. Later commands of the context wait for that. */
void gs_prefetch_root(struct gs_command *cmd, struct gs_mem *root);

/* Adds the numbers of bytes in `want` that are defined but not valid in a place, and of pieces to fetch. */
int gs_count_invalid(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                     uint64_t *pieces);

/* The same for bytes that gs_prefetch_root has brought there since the last split launch that writes the root. */
int gs_count_prefetched(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                        uint64_t *pieces);

/* Are some of the range's bytes defined, and not valid at home? True also where there is no memory to tell. */
bool gs_home_is_invalid(const struct gs_mem *root, struct gs_range r);

/* The bytes of an object that a command reads or changes. */
struct gs_side {
    struct gs_mem *m;      /* null: an unknown object, or none */
    struct gs_range range; /* bytes of the root */
    bool covers;           /* the command changes all of these bytes */
    bool writes, done;     /* for the functions below, like `next` */
    struct gs_side *next;
};

/* A call's use of the bytes without the context's lock: in the application's queue, where nobody knows the command's
 * place, or in queues of ours (shim/put/put.h). The caller owns *use, and sets m, range and writes. */
void gs_host_use_begin(struct gs_side *use);
/* Commands that are enqueued from now on come after the use. The object stays until gs_host_use_end. */
void gs_host_use_done(struct gs_side *use);
void gs_host_use_end(struct gs_side *use);

/* Calls the driver for the command, with this wait list, as such a use. Returns with the lock held; gs_mem_unlock gives
 * it back, as the object may be released by now. */
cl_int gs_call_unlocked(const struct gs_command *cmd, struct gs_side *use, cl_uint n, const cl_event *v);

/* The counts of a root's bytes that went to and fro; the caller may add to them. */
struct gs_traffic *gs_traffic(const struct gs_mem *root);

/* Is a call writing (or reading or writing) some of the bytes (null: all) now? A command in another queue than the
 * application's would get bytes from before the call mixed with bytes from after. */
bool gs_is_host_writing(const struct gs_mem *root, const struct gs_rangeset *what);
bool gs_is_host_using(const struct gs_mem *root, const struct gs_rangeset *what);

/* A command writes the bytes in this place: they are valid there and nowhere else. -ENOMEM changes nothing. */
int gs_wrote(struct gs_mem *root, unsigned place, const struct gs_rangeset *what);

/* gs_wrote for a write that is already enqueued: without memory to note the bytes, they are spoiled. */
void gs_note_write(struct gs_mem *root, unsigned place, struct gs_range what);

/* gs_note_write for home again when a write ends that was noted when it began: copies that other places fetched from
 * home meanwhile are old. Bytes that were written elsewhere meanwhile stay valid there. */
void gs_note_write_again(struct gs_mem *root, struct gs_range what);

/* The bytes are valid nowhere until the caller says where. On -ENOMEM they are still valid in some places. */
int gs_invalidate(struct gs_mem *root, struct gs_range what);

/* Defines undefined bytes by home's values; else parts that leave such a byte alone show their own devices'. */
cl_int gs_define(struct gs_mem *root);

/* Is the whole range valid at home, with no transfer to home under way? */
bool gs_at_home(struct gs_mem *root, struct gs_range r);

/* A place where bytes from r.begin to *end are valid, home first. */
unsigned gs_holder(const struct gs_mem *root, struct gs_range r, uint64_t *end);

/* Events of cmd->before, and of transfers under way to place `from` of src and `to` of dst. */
cl_int gs_ready_events(struct gs_command *cmd, struct gs_mem *src, unsigned from, struct gs_mem *dst, unsigned to,
                       struct gs_events *wait);

/* Brings everything of a context home. */
cl_int gs_gather_all(struct gs_command *cmd, struct gs_events *done);

/* ---- host.c: where bytes lie that the host reads or writes ---- */

/* Cuts the transfer t, of the bytes r of a root (an image's bands), into extents by the places that hold the bytes.
 * `ready` gains the events that the extents must wait for. */
cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_op_run *t,
                      struct gs_extents *s, struct gs_events *ready);

/* Cuts the transfer t to home, of the bytes r of a buffer that the host is to write, into extents: bytes that launches
 * have wanted in one other place alone since the last write go there, the others home. None: all go home. */
cl_int gs_host_targets(struct gs_mem *root, struct gs_range r, const struct gs_op_run *t, struct gs_extents *s);

/* ---- room.c: the memory of a place, which grows with what it needs ---- */

/* Sees to room for what a place needs: makes a replica, or a whole one of a range that is too small. */
cl_int gs_make_room(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w);

#endif
