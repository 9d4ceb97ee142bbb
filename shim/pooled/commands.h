/* SPDX-License-Identifier: MIT */
/* Commands of pooled contexts. A thread of ours carries them out one after the other, in the order that queues, wait
 * lists and barriers demand. No command reaches the driver; their events are user events of ours. */
#ifndef GS_SHIM_POOLED_COMMANDS_H
#define GS_SHIM_POOLED_COMMANDS_H

#include "shim/pooled/pooled.h"
#include "shim/driver/enqueue.h"

/* ---- launch.c: kernel launches ---- */

struct gs_pool_launch;

/* A launch of the kernel with its present arguments, cut into turns that fit. NULL with an error in *err;
 * CL_MEM_OBJECT_ALLOCATION_FAILURE: the launch fits no device. Translates the kernel's program on first need. */
struct gs_pool_launch *gs_pool_launch_make(struct gs_kernel *k, const struct gs_op *op, cl_int *err);
void gs_pool_launch_free(struct gs_pool_launch *l);

/* Notes at the roots which bytes the launch overwrites unread, and which it reads; called for launches in their order
 * after the current command. With the store locked. */
cl_int gs_pool_launch_forecast(const struct gs_pool_launch *l);

/* Carries the launch out but for its last round of turns, whose end gs_pool_launch_end waits for. After an error there
 * is no such round. Before each round foresee(of) notes the commands after the launch. With the store locked. */
cl_int gs_pool_launch_begin(struct gs_pool_launch *l, cl_int (*foresee)(const void *), const void *of);
cl_int gs_pool_launch_end(struct gs_pool_launch *l);
/* Is the launch one round with all bytes and windows? Then it may begin behind another's last. Locks the store. */
bool gs_pool_launch_is_ready(const struct gs_pool_launch *l);
/* The kernel's name, for a message. */
const char *gs_pool_launch_name(const struct gs_pool_launch *l);

/* ---- commands.c, transfer.c, images.c and buffers.c ---- */

struct gs_pool_command {
    struct gs_pool_command *next; /* in the order of the calls */
    struct gs_op op;              /* blocking: the call that made the command waits for it, and frees it */
    char pattern[GS_OP_PATTERN_BYTES];
    struct gs_queue *q; /* held; the driver's queue is retained */
    struct gs_events wait;
    struct gs_event *event;        /* held, and the driver's event retained; or null */
    struct gs_mem *src, *dst;      /* kept; or null */
    struct gs_mapping *mapped;     /* of a map: its mapping, to compare only, as it may be gone */
    struct gs_mapping *taken;      /* of an unmap: the mapping, until the unmap has ended; owned */
    bool of_none;                  /* the map has failed meanwhile; the list's lock */
    struct gs_pool_launch *launch; /* owned */
    bool by_units;                 /* there is a daemon */
    bool behind_failed;            /* an earlier command of the queue was not carried out */
    bool done;
    cl_int err;
    cl_ulong times[3]; /* queued, submitted, begun */
};

/* Carries out a transfer, map or unmap with checked arguments. With the store locked. */
cl_int gs_pool_transfer(const struct gs_pool_command *c);

/* The range of the root for `bytes` of the object from `at` on; of an image all bytes. */
struct gs_range gs_pool_range(const struct gs_mem *m, size_t at, size_t bytes);

/* Is this a queue of a pooled context? And gs_enqueue for such a queue. */
bool gs_pool_takes(cl_command_queue queue);
cl_int gs_pool_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event);

/* Turns a command on images (but a fill) into one on the bytes of their host places. An error: what is wrong. */
cl_int gs_pool_image_op(struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst);
/* Fills a region of an image with the texel for the color. With the store locked. */
cl_int gs_pool_fill_image(struct gs_pool_root *r, const struct gs_op *op, const void *color);
/* The answer of clGetImageInfo. GS_POOL_ASK: the driver's stand-in has the same answer. */
cl_int gs_pool_image_info(const struct gs_mem *m, cl_image_info what, size_t space, void *value, size_t *size_ret);
/* Hands out the stand-in, with record and bytes (root null: the parent's). After an error, or without m, frees all. */
cl_mem gs_pool_publish(cl_mem handle, struct gs_pool_root *root, struct gs_mem *m, cl_int err, cl_int *errcode_ret);
/* Sets the root's first bytes, from rows of the application's memory, perhaps the host place. Store not locked. */
cl_int gs_pool_begin_with(struct gs_pool_root *r, const char *from, const size_t region[3], const size_t pitch[2]);

/* Checks a command's arguments by the specification, and fills in pitches of 0. as_bytes: the command was on images. */
cl_int gs_pool_check(struct gs_op *op, bool as_bytes, const struct gs_context *ctx, const struct gs_mem *src,
                     const struct gs_mem *dst);

#endif
