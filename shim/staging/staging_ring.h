/* SPDX-License-Identifier: MIT */
/* What the files behind staging.h share: a context's rings of pinned memory. staging_way.c makes them, and says which
 * transfers go through one; staging.c carries these out. */
#ifndef GS_SHIM_STAGING_STAGING_RING_H
#define GS_SHIM_STAGING_STAGING_RING_H

#include <pthread.h>

#include "shim/staging/pinned_memory.h"
#include "shim/staging/staging.h"

enum { GS_SLOTS = 16, GS_SLOT_BYTES = 4 * 1024 * 1024 };

struct gs_slot {
    struct gs_piece piece;
    struct gs_copy_job job; /* nothing is left of it before the first */
    struct gs_events used;  /* the devices' last use; and of each the queue, which is in order; null:
                             * a unit's, which is of another */
    cl_command_queue queue[GS_MAX_DEVICES];
    uint64_t turn; /* of that use among the ring's */
};

struct gs_staging_ring {
    struct gs_pinned_memory memory;
    uint64_t seen; /* bytes of large transfers so far; the context's lock */
    /* That of beside is made by its thread, while others ask whether it is there. */
    enum ring_state { RING_UNTRIED, RING_MADE, RING_FAILED } _Atomic state;
    struct gs_slot slot[GS_SLOTS];
    uint64_t turns; /* pieces sent */
};

struct gs_staging {
    pthread_mutex_t busy; /* here's slots; never waited for with the context's lock held */
    struct gs_staging_ring here, beside;
    pthread_mutex_t making; /* all below; a leaf */
    struct gs_pool *pool;
    cl_command_queue queue[2][GS_MAX_DEVICES + 1]; /* for beside, and for new buffers: with profiles or not, by place,
                                                    * the parent's last */
};

/* Is it there, or has it been made now? */
bool gs_staging_ring_make(struct gs_staging_ring *r, struct gs_context *ctx);

/* By which way so many bytes of the application's memory go. `here`: the call may wait for them. With the context's
 * lock held. */
unsigned gs_staging_way_of(struct gs_context *ctx, const void *ptr, uint64_t bytes, bool here);

#endif
