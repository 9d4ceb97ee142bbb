/* SPDX-License-Identifier: MIT */
/* Which bytes of which memory object are valid where, and the transfers that make more of them so. A range of an image
 * is of whole bands (see gs_mem). With the context's lock held; nothing blocks.
 *
 * Invariant: each byte of a root is valid in at least one place, or undefined. */
#ifndef GS_SHIM_COHERENCE_COHERENCE_H
#define GS_SHIM_COHERENCE_COHERENCE_H

#include "shim/order/command.h"
#include "shim/memory/replica.h"

/* Looks at what has ended since: what failed counts no more. */
void gs_settle(struct gs_mem *root);

/* CL_OUT_OF_RESOURCES if the bytes are lost: a split launch that wrote to them failed while it ran. */
cl_int gs_sound(const struct gs_mem *root, struct gs_range r);

/* The bytes are nobody's result until they are written again. */
void gs_make_undefined(struct gs_mem *root, struct gs_range r);

/* Makes bytes invalid on a place where a failed launch has changed them. CL_OUT_OF_RESOURCES: some were valid nowhere
 * else and are spoiled now. */
cl_int gs_undo(struct gs_mem *root, unsigned place, const struct gs_rangeset *changed);

/* A split launch that writes to the root ends with `end`, which is retained. */
void gs_split_writes(struct gs_mem *root, cl_event end);

/* Makes the bytes `want` of a root valid in a place. What a later command must wait for is added to `done`. With
 * `exactly`, undefined bytes are made equal too. */
cl_int gs_require(struct gs_command *cmd, struct gs_mem *root, unsigned place, const struct gs_rangeset *want,
                  bool exactly, struct gs_events *done);
cl_int gs_require_range(struct gs_command *cmd, struct gs_mem *root, unsigned place, struct gs_range want,
                        struct gs_events *done);

/* The same for several places at a time, each of them once: what they need of each other's then travels at the same
 * time. */
cl_int gs_require_all(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w, unsigned n, bool exactly);

/* How many of the bytes `want` are not valid in a place though somebody has written them, and in how many pieces they
 * would come; both are added to. An image counts with all its bytes. */
int gs_count_invalid(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                     uint64_t *pieces);

static inline void gs_host_use_end(struct gs_host_use **at, const struct gs_host_use *use)
{
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
}

/* A call writes r of a root from now on without the context's lock, until the end of that. */
static inline void gs_host_write_begin(struct gs_mem *root, struct gs_range r, struct gs_host_use *write)
{
    *write = (struct gs_host_use){.range = r, .next = root->host_writes};
    root->host_writes = write;
}

static inline void gs_host_write_end(struct gs_mem *root, const struct gs_host_use *write)
{
    gs_host_use_end(&root->host_writes, write);
}

/* Does such a call write some of these bytes? */
bool gs_is_host_writing(const struct gs_mem *root, const struct gs_rangeset *what);

/* A call reads r so. At the end of that another command may have changed some of the bytes meanwhile (gs_wrote), or may
 * be writing them without the lock; true: what has been read may be of before that command and of after it. Read by a
 * command that is enqueued from now on, with the lock held, all of it is of after. Not of what came while a user event
 * had no status, as long as one has none: that may wait for what the caller does next, and a second read behind it for
 * ever. It was at home, in the application's own order, as is such a read. */
static inline void gs_host_read_begin(struct gs_mem *root, struct gs_range r, struct gs_host_use *read)
{
    const bool written = gs_is_host_writing(root, &(const struct gs_rangeset){.v = &r, .n = 1});
    *read = (struct gs_host_use){.range = r, .overtaken = written, .next = root->host_reads};
    root->host_reads = read;
}

static inline bool gs_host_read_end(struct gs_mem *root, const struct gs_host_use *read)
{
    gs_host_use_end(&root->host_reads, read);
    return read->overtaken || (read->held && !atomic_load(&root->o.ctx->user_events));
}

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

/* Undefined bytes get the value that they happen to have at home: else a part that leaves some of its range alone would
 * show the values of its own device. */
cl_int gs_define(struct gs_mem *root);

/* What a place holds; and the last transfer into it, or null. */
const struct gs_rangeset *gs_valid_at(const struct gs_mem *root, unsigned place);
cl_event gs_ready_at(const struct gs_mem *root, unsigned place);

/* The same as gs_note_write of all its bytes, where nothing of the context has ever been elsewhere than at home. */
void gs_wrote_at_home(struct gs_mem *root);

/* Is all of the range valid at home, with no transfer into it under way? */
bool gs_at_home(struct gs_mem *root, struct gs_range r);

/* A place that holds the first bytes of r valid, home first, and how far: *end. */
unsigned gs_holder(const struct gs_mem *root, struct gs_range r, uint64_t *end);

/* cmd->before, and the transfers under way into a place of one root and of another. */
cl_int gs_ready_events(struct gs_command *cmd, struct gs_mem *src, unsigned from, struct gs_mem *dst, unsigned to,
                       struct gs_events *wait);

/* Brings everything of a context home. */
cl_int gs_gather_all(struct gs_command *cmd, struct gs_events *done);

#endif
