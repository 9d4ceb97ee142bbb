/* SPDX-License-Identifier: MIT */
/* The bytes of pooled buffers (docs/memory.md): which place holds which of them, and how they move. A place is the
 * host, or a window: a range of a root's bytes in a device's memory. The functions block until the bytes are there. All
 * but the first three are called with the store locked. */
#ifndef GS_SHIM_POOLED_STORE_H
#define GS_SHIM_POOLED_STORE_H

#include <stdatomic.h>

#include "shim/pooled/host.h"
#include "shim/pooled/pooled.h"
#include "shim/pooled/queues.h"
#include "shim/pooled/turns.h"

struct gs_pool_window {
    struct gs_pool_window *next; /* of the root */
    struct gs_pool_root *root;
    unsigned device;
    cl_mem mem;                /* owned */
    uint64_t bytes;            /* of mem: as many as the range has, or some more */
    struct gs_range range;     /* of the root; begins at a whole page */
    struct gs_rangeset valid;  /* bytes of the root that are up to date here */
    struct gs_rangeset coming; /* bytes that gs_pool_gather brings */
    uint64_t used;             /* the last round of turns that uses it */
};

/* An image's texels. Its bytes are these without gaps; they are valid all or none, and each window has all. */
struct gs_pool_image {
    cl_image_format format;
    cl_image_desc desc; /* without pitches */
    size_t texels[3];   /* by coordinate; of an array, the last one counts its images */
    size_t texel_bytes;
};

/* The bytes of one root. Every byte is valid at the host or in a window, or nobody has written it. */
struct gs_pool_root {
    struct gs_context *ctx;
    uint64_t size;
    struct gs_pool_image *image; /* null: a buffer. Owned */
    struct gs_pool_host
        host; /* the host place: memory of ours, or what the application gave with CL_MEM_USE_HOST_PTR */
    struct gs_rangeset valid; /* bytes that are up to date at the host */
    atomic_uint maps;         /* of the application, from their call to the end of the unmapping */
    /* Of the commands that come after the one that is carried out: what they overwrite unread, and what they read. And
     * what the rest of that one doesn't read either, so that it needn't be kept. */
    struct gs_rangeset overwritten, wanted, doomed;
    struct gs_pool_window *windows;
    struct gs_pool_root *next, *prev; /* of all roots */
};

/* What the application may have in all, and in one buffer: the sum of the devices' memories, and of what the user has
 * added of the host's. */
uint64_t gs_pool_bytes(void);

/* A root of `size` bytes; given: null, or the application's memory that is to be its host place. NULL with an error in
 * *err: there is no memory for it. */
struct gs_pool_root *gs_pool_root_new(struct gs_context *ctx, uint64_t size, void *given, cl_int *err);

void gs_pool_lock(void);
void gs_pool_unlock(void);

/* What every device has at least. */
struct gs_pool_room gs_pool_room(void);

/* A window of the device that holds the range; null: there is none. */
struct gs_pool_window *gs_pool_window_of(struct gs_pool_root *r, unsigned device, struct gs_range range);

/* A round of turns, whose number is larger than those before: the windows that it takes are pinned until it has
 * ended. Rounds end in the order in which they begin. */
uint64_t gs_pool_round_begin(void);
void gs_pool_round_end(uint64_t round);

/* The pages of a window of the device for the range, for the round that has begun last: of one that is there, which is
 * pinned now; or of a new one, for which those that were used longest ago begin to leave, as far as nothing pins them.
 * It may be `spare` bytes larger than its range. */
cl_int gs_pool_make_way(struct gs_pool_root *r, unsigned device, struct gs_range range, uint64_t spare,
                        struct gs_range *pages);
/* That window, pinned, once those that leave have settled. patient: waits for memory that the driver has yet to let go
 * of. */
cl_int gs_pool_window(struct gs_pool_root *r, unsigned device, struct gs_range pages, bool patient,
                      struct gs_pool_window **out);
/* Evicts all windows of the device, pinned or not. */
cl_int gs_pool_clear(unsigned device);

/* Transfers run beside each other until gs_pool_settle has waited for all of them: whatever a command began has settled
 * before the store is unlocked. An error means that what the buffers of a context hold is lost; those of the context
 * whose transfer has failed are marked.
 * Bytes come into a window in two steps, between which all must settle: what neither the host nor a window of the same
 * device has comes from other devices' windows; then the rest comes from the host and from windows of the device. Bytes
 * that nobody has written are left as they are. */
cl_int gs_pool_gather(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_load(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_settle(void);
/* Any other transfer of the device. */
cl_int gs_pool_begin(struct gs_context *ctx, unsigned device, const struct gs_op *op);

/* A step for each range of the bytes that a window of the device holds, or of any device; each range once. What is left
 * of `bytes` no such window holds. */
enum { GS_POOL_ALL_DEVICES = GS_MAX_DEVICES };
typedef cl_int gs_pool_step(struct gs_pool_window *w, struct gs_range range, void *arg);
cl_int gs_pool_from_windows(struct gs_pool_root *r, unsigned device, struct gs_rangeset *bytes, gs_pool_step *step,
                            void *arg);

/* Brings the bytes to the host, and has all settled. */
cl_int gs_pool_require_host(struct gs_pool_root *r, struct gs_range bytes);

/* The bytes were written there, and are valid nowhere else. */
cl_int gs_pool_wrote(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_wrote_host(struct gs_pool_root *r, const struct gs_rangeset *bytes);

/* One of the maps has ended. With the last one, what devices hold leaves the host, if that has more of it than the user
 * has given: a program that maps a buffer to copy its bytes has no memory for a third copy. */
cl_int gs_pool_map_end(struct gs_pool_root *r);

/* Who comes next overwrites the bytes unread: they are worth nothing. */
cl_int gs_pool_forget(struct gs_pool_root *r, const struct gs_rangeset *bytes);
/* No later command is known: of all roots. And one is that may read all of this one. */
void gs_pool_foresee_nothing(void);
cl_int gs_pool_want(struct gs_pool_root *r);

/* To the host's memory, from wherever they are. */
cl_int gs_pool_read(struct gs_pool_root *r, struct gs_range bytes, char *to);
/* Both are whole within one buffer or another; of one buffer they don't overlap. */
cl_int gs_pool_copy(struct gs_pool_root *from, struct gs_range bytes, struct gs_pool_root *to, uint64_t at);
/* pattern: gs_op.pattern; the range is a multiple of it. */
cl_int gs_pool_fill(struct gs_pool_root *r, struct gs_range bytes, const void *pattern, size_t pattern_bytes);

/* Sets of ranges fail for want of memory alone. */
static inline cl_int gs_pool_error(int err)
{
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

/* How many bytes of the range are valid on the device. */
uint64_t gs_pool_held(const struct gs_pool_root *r, unsigned device, struct gs_range range);

/* A set of one range, not empty. */
#define GS_ONE_RANGE(range) ((const struct gs_rangeset){.v = &(range), .n = 1})

#endif
