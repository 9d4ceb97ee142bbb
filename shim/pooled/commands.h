/* SPDX-License-Identifier: MIT */
/* The commands of pooled contexts: in the order that queues, wait lists and barriers demand, a thread of ours carries
 * them out one after the other. None of them is the driver's; their events are user events of ours. */
#ifndef GS_SHIM_POOLED_COMMANDS_H
#define GS_SHIM_POOLED_COMMANDS_H

#include "shim/pooled/pooled.h"
#include "shim/driver/enqueue.h"

/* ---- launch.c: kernel launches ---- */

struct gs_pool_launch;

/* A launch of the kernel with its arguments as they are now: cut into turns that fit. NULL with an error in *err; that
 * is CL_MEM_OBJECT_ALLOCATION_FAILURE where it fits no device. Translates the kernel's program on first need. */
struct gs_pool_launch *gs_pool_launch_make(struct gs_kernel *k, const struct gs_op *op, cl_int *err);
void gs_pool_launch_free(struct gs_pool_launch *l);

/* Notes at the roots what the launch overwrites unread, and what it reads. Launches are told in the order in which they
 * come after the current command. With the store locked. */
cl_int gs_pool_launch_forecast(const struct gs_pool_launch *l);

/* Carries the launch out but for the end of its last round of turns, which is waited for by gs_pool_launch_end; with an
 * error there is none. Before each round foresee(of) notes the commands after the launch. With the store locked. */
cl_int gs_pool_launch_begin(struct gs_pool_launch *l, cl_int (*foresee)(const void *), const void *of);
cl_int gs_pool_launch_end(struct gs_pool_launch *l);
/* Is it one round that needs nothing brought or made? Then it may begin behind another's last round. Likewise. */
bool gs_pool_launch_is_ready(const struct gs_pool_launch *l);
/* Its kernel's, for a message. */
const char *gs_pool_launch_name(const struct gs_pool_launch *l);

/* ---- commands.c, transfer.c, images.c and buffers.c ---- */

struct gs_pool_command {
    struct gs_pool_command *next; /* in the order of the calls */
    struct gs_op op;
    char pattern[GS_OP_PATTERN_BYTES];
    struct gs_queue *q; /* held, and the driver's retained */
    cl_command_queue queue;
    struct gs_events wait;
    cl_event event;                /* of ours, retained; or null */
    struct gs_event *record;       /* of the event; held */
    struct gs_mem *src, *dst;      /* kept; or null */
    struct gs_mapping *mapped;     /* of a map: its mapping, which may be gone; to compare only */
    struct gs_mapping *taken;      /* of an unmap: the mapping, until it has ended; owned */
    bool of_none;                  /* the map has failed since; the list's lock */
    struct gs_pool_launch *launch; /* owned */
    bool by_units;                 /* there is a daemon */
    bool awaited;                  /* the call that made it waits for it, and frees it */
    bool by_ring;                  /* its context's ring has been entered for it */
    bool behind_failed;            /* one that it comes after in its queue was not carried out */
    bool done;
    cl_int err;
    cl_ulong times[3]; /* queued, submitted, begun */
};

/* Carries out a transfer, map or unmap whose arguments have been checked. The store locked. */
cl_int gs_pool_transfer(const struct gs_pool_command *c);

/* The bytes of the root that are `bytes` of the object; an image's are valid all or none. */
struct gs_range gs_pool_range(const struct gs_mem *m, size_t at, size_t bytes);

/* Is it a queue of a pooled context? And a command of such a queue, as gs_enqueue. */
bool gs_pool_takes(cl_command_queue queue);
cl_int gs_pool_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event);

/* Makes of a command on images one on the bytes of their host places, but of a fill. An error: what is wrong. */
cl_int gs_pool_image_op(struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst);
/* Fills a region of an image with the texel that the color becomes. The store locked. */
cl_int gs_pool_fill_image(struct gs_pool_root *r, const struct gs_op *op, const void *color);
/* What clGetImageInfo says. GS_POOL_ASK: the driver's stand-in says the same. */
cl_int gs_pool_image_info(const struct gs_mem *m, cl_image_info what, size_t room, void *value, size_t *size_ret);
/* Hands the stand-in out with its record and its bytes; those of its parent: root is null. With an error, or without a
 * record, nothing stays. */
cl_mem gs_pool_publish(cl_mem handle, struct gs_pool_root *root, struct gs_mem *m, cl_int err, cl_int *errcode_ret);
/* The root's first bytes: rows of the application's memory, which may be its host place. The store not locked. */
cl_int gs_pool_begin_with(struct gs_pool_root *r, const char *from, const size_t region[3], const size_t pitch[2]);

/* What is wrong with a command's arguments, by the specification; fills in pitches of 0. as_bytes: it was of images. */
cl_int gs_pool_check(struct gs_op *op, bool as_bytes, const struct gs_context *ctx, const struct gs_mem *src,
                     const struct gs_mem *dst);

#endif
