/* SPDX-License-Identifier: MIT */
/* Which bytes of which memory object are valid where, and the transfers that make more of them so. A range of an image
 * is of whole bands (see gs_mem). With the context's lock held; nothing blocks.
 *
 * Invariant: each byte of a root is valid in at least one place, or undefined. */
#ifndef GS_SHIM_COHERENCE_COHERENCE_H
#define GS_SHIM_COHERENCE_COHERENCE_H

#include "shim/memory/object.h"
#include "shim/staging/staging.h"

/* Looks at what has ended since: what failed counts no more. */
void gs_drop_failed(struct gs_mem *root);

/* CL_OUT_OF_RESOURCES if the bytes are lost: a split launch that wrote to them failed while it ran. */
cl_int gs_check_written(const struct gs_mem *root, struct gs_range r);

/* The bytes are nobody's result until they are written again. */
void gs_make_undefined(struct gs_mem *root, struct gs_range r);

/* A failed launch has changed bytes on a place: they are invalid. CL_OUT_OF_RESOURCES: some were valid nowhere else. */
cl_int gs_undo(struct gs_mem *root, unsigned place, const struct gs_rangeset *changed);

/* A split launch that writes to the root ends with `end`, which is retained. */
void gs_split_writes(struct gs_mem *root, cl_event end);

/* Makes the bytes `want` of a root valid in a place. What a later command must wait for is added to `done`. */
cl_int gs_require_range(struct gs_command *cmd, struct gs_mem *root, unsigned place, struct gs_range want,
                        struct gs_events *done);

/* The same for several places at a time, each of them once: what they need of each other's then travels at the same
 * time. With `exactly`, undefined bytes are made equal too. */
cl_int gs_require_all(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w, unsigned n, bool exactly);

/* How many of the bytes `want` are not valid in a place though somebody has written them, and in how many pieces they
 * would come; both are added to. An image counts with all its bytes. */
int gs_count_invalid(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                     uint64_t *pieces);

/* A call uses bytes of an object without the context's lock: through the driver, in the application's queue, where
 * nobody knows its place; or by queues of ours (shim/put/put.h). The caller's; the first three are set. */
struct gs_host_use {
    struct gs_mem *m;
    struct gs_range range; /* of its root */
    bool writes, done;
    struct gs_host_use *next;
};
void gs_host_use_begin(struct gs_host_use *use);
/* What is enqueued from now on comes after it. The object stays until the end. */
void gs_host_use_done(struct gs_host_use *use);
void gs_host_use_end(struct gs_host_use *use);

/* The driver's call for the command, with this wait list, as such a use. Returns with the lock, which gs_mem_unlock
 * gives back: the object may have been let go. */
cl_int gs_call_unlocked(const struct gs_command *cmd, struct gs_host_use *use, cl_uint n, const cl_event *v);

/* How many bytes of a root went to and fro so far; the caller may add to that. */
struct gs_traffic *gs_traffic(const struct gs_mem *root);

/* Does a call without the context's lock (gs_host_use_begin) write some of these bytes; or read or write some? Commands
 * in another queue than the application's would find a mixture of before the call and after it. */
bool gs_is_host_writing(const struct gs_mem *root, const struct gs_rangeset *what);
bool gs_is_host_using(const struct gs_mem *root, const struct gs_rangeset *what);

/* The bytes are now what this place holds, and nowhere else. -ENOMEM leaves all as it was. */
int gs_wrote(struct gs_mem *root, unsigned place, const struct gs_rangeset *what);
int gs_wrote_range(struct gs_mem *root, unsigned place, struct gs_range what);

/* The same of a write that has been enqueued already: without memory to note it the bytes are spoiled. */
void gs_note_write(struct gs_mem *root, unsigned place, struct gs_range what);

/* The same at the end of a write that was noted when it began. What other places got from home meanwhile doesn't count;
 * what was written there since isn't home's any more. */
void gs_note_write_again(struct gs_mem *root, struct gs_range what);

/* The bytes are on their way to where they will be said to be. -ENOMEM: some may be said to be somewhere yet. */
int gs_invalidate(struct gs_mem *root, struct gs_range what);

/* Undefined bytes get home's values: else a part that leaves some of its range alone would show its own device's. */
cl_int gs_define(struct gs_mem *root);

/* The last transfer into a place, or null. */
cl_event gs_ready_at(const struct gs_mem *root, unsigned place);

/* Is all of the range valid at home, with no transfer into it under way? */
bool gs_at_home(struct gs_mem *root, struct gs_range r);

/* A place that holds the first bytes of r valid, home first, and how far: *end. */
unsigned gs_holder(const struct gs_mem *root, struct gs_range r, uint64_t *end);

/* cmd->before, and the transfers under way into a place of one root and of another. */
cl_int gs_ready_events(struct gs_command *cmd, struct gs_mem *src, unsigned from, struct gs_mem *dst, unsigned to,
                       struct gs_events *wait);

/* Brings everything of a context home. */
cl_int gs_gather_all(struct gs_command *cmd, struct gs_events *done);

/* ---- host.c: where a root's bytes are to be read from that the host wants ---- */

/* The stretches of the bytes r of a root (of an image: its bands), of which t is all if they were at home, by the
 * places that hold them. `ready` gains what they must come after. */
cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_extents *s, struct gs_events *ready);

#endif
