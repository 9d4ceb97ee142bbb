/* SPDX-License-Identifier: MIT */
/* What the files behind staging.h share: a context's ring of pinned memory. staging_way.c makes the ring and chooses
 * its transfers; staging.c carries these out. */
#ifndef GS_SHIM_STAGING_STAGING_RING_H
#define GS_SHIM_STAGING_STAGING_RING_H

#include <pthread.h>

#include "shim/staging/pinned_memory.h"
#include "shim/staging/staging.h"

enum { GS_SLOTS = 16, GS_SLOT_BYTES = 4 * 1024 * 1024 };

struct gs_slot {
    struct gs_staged piece;
    struct gs_copy_job job; /* nothing is left of it before the first */
    cl_event used;          /* the device's last use; or null */
};

struct gs_staging {
    uint64_t seen; /* bytes of large transfers so far. With what follows, the context's lock; all is made at once */
    enum ring_state { RING_UNTRIED, RING_MADE, RING_FAILED } state;
    struct gs_pool *pool;
    struct gs_pinned_memory memory;
    pthread_mutex_t busy; /* all below; never waited for with the context's lock held */
    /* With profiles or not, by place, the parent's last; nothing else is in them. */
    cl_command_queue queue[2][GS_MAX_DEVICES + 1];
    struct gs_slot slot[GS_SLOTS];
};

/* The queues of all places, which there may be. */
bool gs_staging_make_queues(struct gs_staging *s, const struct gs_context *ctx, bool timed);

#endif
