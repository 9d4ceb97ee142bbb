/* SPDX-License-Identifier: MIT */
/* The bytes of pooled buffers (docs/memory.md): which place holds which bytes, and how bytes move. A place is the host,
 * or a window: a range of a root's bytes in a device's memory. */
#ifndef GS_SHIM_POOLED_STORE_H
#define GS_SHIM_POOLED_STORE_H

#include "shim/pooled/pooled.h"
#include "shim/pooled/turns.h"
#include "shim/staging/staging.h"

/* ---- host.c: the host place, a range of addresses for each root, whose pages the system makes when they are first
 * written ----
 *
 * GPUs' drivers pin the pieces that are used first, for the link's pace: of all host places together as many bytes as
 * the user has given with `--memory pooled+host:SIZE`, or an eighth of the machine's memory (at most 16 GiB), whichever
 * is more. With the store locked, but for gs_pool_host_make and gs_pool_host_free. */

/* A device's driver pins one piece at a time; a transfer stays within one. */
enum { GS_POOL_PIECE = 32 * 1024 * 1024 };

struct gs_pool_host {
    const struct gs_context *ctx;
    uint64_t *pinned; /* counts the bytes that are pinned */
    char *base;
    void *map; /* of ours; null: the application gave the memory */
    size_t map_bytes;
    cl_mem *pieces; /* what pins each; null: it isn't pinned. Owned; null: none is ever pinned */
    size_t n_pieces;
};

/* The caller has set `ctx`, `pinned`, and `base` to the application's memory or null. False: no memory. */
bool gs_pool_host_make(struct gs_pool_host *h, uint64_t size);
void gs_pool_host_free(struct gs_pool_host *h);

/* Pins the piece that holds the byte, where pinning helps and is allowed. The piece stays pinned. False: it isn't. */
bool gs_pool_host_pin(struct gs_pool_host *h, uint64_t at);

/* The bytes are valid here no more: their pages go back to the system, except pinned pages. */
void gs_pool_host_drop(struct gs_pool_host *h, struct gs_range bytes);

/* ---- queues.c: our queues of each device, in order, and transfers under way in them. With the store locked ---- */

/* A device's queues, unordered among each other: its link carries bytes both ways at once, and beside a kernel. */
enum gs_pool_lane { GS_POOL_TO_DEVICE, GS_POOL_TO_HOST, GS_POOL_KERNELS, GS_POOL_LANES };

/* What a pooled context keeps. */
struct gs_pool_queues {
    cl_command_queue of[GS_MAX_DEVICES][GS_POOL_LANES]; /* made on first need */
    struct gs_pool_host passing;     /* memory of the host's through which bytes go from device to device */
    uint64_t pass_pinned, pass_used; /* of `passing`: bytes pinned; bytes in use by transfers under way */
    bool by_ring;                    /* the command that is carried out has entered the context's ring; ... */
    bool carries;                    /* ... for the application's memory, too */
    atomic_bool spills;              /* some of the host place isn't pinned: commands enter the ring for its bytes */
    atomic_int failed;               /* the error of a failed command, by which the buffers' bytes are lost; or 0 */
};

/* Null with an error in *err. */
cl_command_queue gs_pool_queue(struct gs_context *ctx, unsigned device, enum gs_pool_lane lane, cl_int *err);

/* Enqueues a transfer: a read to the host in one queue, all others in the queue to the device. Its host memory stays
 * until gs_pool_transfers_end. */
cl_int gs_pool_begin(struct gs_context *ctx, unsigned device, const struct gs_op *op);
/* Between devices, GS_POOL_PIECE bytes at most: a read, and a write that waits for it. Fills in both's host memory. */
cl_int gs_pool_pass_begin(struct gs_context *ctx, unsigned from, struct gs_op *read, unsigned to, struct gs_op *write);
/* Waits for all transfers. Marks the context of a failed transfer as failed; returns the last such error. */
cl_int gs_pool_transfers_end(void);

/* ---- store.c, move.c: the functions block until the bytes are there. With the store locked, but for gs_pool_bytes,
 * gs_pool_root_new and gs_pool_lock ---- */

/* A sub-buffer of a window, for arguments of kernels that take no shift. It lasts as long as the window. */
struct gs_pool_part {
    struct gs_pool_part *older;
    cl_buffer_region region;
    cl_mem mem; /* owned */
};

struct gs_pool_window {
    struct gs_pool_window *next; /* of the root */
    struct gs_pool_root *root;
    unsigned device;
    cl_mem mem;                 /* owned */
    struct gs_pool_part *parts; /* the newest; owned */
    uint64_t bytes;             /* at least as many as the range */
    struct gs_range range;      /* of the root; begins at a whole page */
    struct gs_rangeset valid;   /* bytes of the root that are up to date here */
    struct gs_rangeset coming;  /* bytes that gs_pool_gather is bringing */
    uint64_t used;              /* the last round of turns that uses it */
};

/* An image's texels: bytes without gaps, valid all or none; each window has all. */
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
    /* Bytes that later commands overwrite unread, and that the rest of the current command doesn't read: nobody has to
     * keep them. And bytes that later commands read. */
    struct gs_rangeset overwritten, wanted;
    struct gs_pool_window *windows;
    struct gs_pool_root *next, **at; /* of all roots: the next one, and what leads to this one */
};

/* The most bytes of all buffers, and of one: the sum of the devices' memories and of the host's that the user adds. */
uint64_t gs_pool_bytes(void);

/* A root of `size` bytes; given: null, or the application's memory for its host place. NULL with *err: no memory. */
struct gs_pool_root *gs_pool_root_new(struct gs_context *ctx, uint64_t size, void *given, cl_int *err);

void gs_pool_lock(void);
void gs_pool_unlock(void);

/* The space on the smallest device. */
struct gs_pool_space gs_pool_space(void);

/* A window of the device that holds the range; null: none. */
struct gs_pool_window *gs_pool_window_of(struct gs_pool_root *r, unsigned device, struct gs_range range);

/* A round of turns; rounds are numbered in the order in which they begin, and end in that order. The windows that a
 * round takes are pinned until the round has ended. devices: a bit for each that the launch uses. */
uint64_t gs_pool_round_begin(unsigned devices);
void gs_pool_round_end(uint64_t round);

/* The pages of a window of the device for the range, for the round that has begun last. A window that holds the range
 * is pinned. For a new window, windows that nothing pins begin to leave, those that were used longest ago first: to a
 * device that the launch doesn't use, or else to the host. A new window may be `spare` bytes larger than the range. */
cl_int gs_pool_make_way(struct gs_pool_root *r, unsigned device, struct gs_range range, uint64_t spare,
                        struct gs_range *pages);
/* The window's sub-buffer of the region. Null with the error in *err. */
cl_mem gs_pool_part(struct gs_pool_window *w, const cl_buffer_region *region, cl_int *err);
/* These pages' window, pinned, once leaving windows have settled. patient: waits until the driver frees memory. */
cl_int gs_pool_window(struct gs_pool_root *r, unsigned device, struct gs_range pages, bool patient,
                      struct gs_pool_window **out);
/* Evicts all windows of the device, pinned or not. */
cl_int gs_pool_clear(unsigned device);

/* Transfers run side by side until gs_pool_await, which must be called before the store is unlocked. An error means
 * that the contents of a context's buffers are lost; the context of the failed transfer is marked. Bytes come into a
 * window in two steps, with gs_pool_await in between: bytes that neither the host nor another window of the same device
 * has come from other devices' windows (gather); the rest comes from the host and that device's windows (load);
 * undefined bytes don't. */
cl_int gs_pool_gather(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_load(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_await(void);

/* Calls `step` for each range of the bytes that a window of the device holds (or of any device), once for each range.
 * Bytes that no such window holds stay in `bytes`. */
enum { GS_POOL_ALL_DEVICES = GS_MAX_DEVICES };
typedef cl_int gs_pool_step(struct gs_pool_window *w, struct gs_range range, void *arg);
cl_int gs_pool_from_windows(struct gs_pool_root *r, unsigned device, struct gs_rangeset *bytes, gs_pool_step *step,
                            void *arg);

/* Brings the bytes to the host, and waits for all transfers. */
cl_int gs_pool_require_host(struct gs_pool_root *r, struct gs_range bytes);

/* The bytes were written in this place, and are valid nowhere else. */
cl_int gs_pool_wrote(struct gs_pool_window *w, const struct gs_rangeset *bytes);
cl_int gs_pool_wrote_host(struct gs_pool_root *r, const struct gs_rangeset *bytes);

/* A map of the root has ended. With the last map, bytes that devices hold leave the host place, if the host place holds
 * more bytes than the user has given: a program that maps a buffer to copy its bytes has no memory for a third copy. */
cl_int gs_pool_map_end(struct gs_pool_root *r);

/* The next command overwrites the bytes unread: no place has to keep them. */
cl_int gs_pool_invalidate(struct gs_pool_root *r, const struct gs_rangeset *bytes);
/* No later commands are known, of any root. */
void gs_pool_forecast_clear(void);

/* The error if the driver lacks something for a transfer. Not CL_MEM_OBJECT_ALLOCATION_FAILURE, which would mean no
 * room for a window, and has other answers than an error: a new window's memory is used at once to find that out. */
static inline cl_int gs_pool_transfer_error(cl_int err)
{
    return err == CL_MEM_OBJECT_ALLOCATION_FAILURE ? CL_OUT_OF_RESOURCES : err;
}

/* Transfers between windows and the application's memory: by the ring if the command has entered it for that. */
cl_int gs_pool_carry(struct gs_context *ctx, const struct gs_extents *s);
/* Copies the bytes to the application's memory, from wherever they are. */
cl_int gs_pool_read(struct gs_pool_root *r, struct gs_range bytes, char *to);
/* Copies between buffers; each range lies within one buffer, and in the same buffer they don't overlap. */
cl_int gs_pool_copy(struct gs_pool_root *from, struct gs_range bytes, struct gs_pool_root *to, uint64_t at);
/* Sets bytes from the application's memory, or by a pattern (pattern_bytes > 0) that divides the range: in windows, if
 * any, or at the host. */
cl_int gs_pool_put(struct gs_pool_root *r, struct gs_range bytes, const char *from, size_t pattern_bytes);

/* Sets of ranges fail for want of memory alone. */
static inline cl_int gs_pool_error(int err)
{
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

/* How many bytes of the range are valid on the device. */
uint64_t gs_pool_valid_bytes(const struct gs_pool_root *r, unsigned device, struct gs_range range);

#endif
