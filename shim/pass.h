/* SPDX-License-Identifier: MIT */
/* Commands that need no book-keeping: while no launch of a context has ever been split, all bytes are at home, and what
 * is there stays there. Such a command goes to the driver without the context's lock. The first split lets those that
 * are on their way arrive before it looks at what it must come after, and from then on there are none. */
#ifndef GS_SHIM_PASS_H
#define GS_SHIM_PASS_H

#include <sched.h>

#include "shim/objects.h"

/* True: hand it on, and call gs_pass_end. It must not block: a split may be waiting. */
static inline bool gs_pass_begin(struct gs_context *ctx)
{
    if (atomic_load_explicit(&ctx->divided, memory_order_relaxed))
        return false;
    atomic_fetch_add(&ctx->passing, 1);
    if (!atomic_load(&ctx->divided))
        return true;
    atomic_fetch_sub(&ctx->passing, 1);
    return false;
}

static inline void gs_pass_end(struct gs_context *ctx)
{
    atomic_fetch_sub(&ctx->passing, 1);
}

/* Before a launch is put in order that will be carried out elsewhere than at home. With the context's lock held. */
static inline void gs_pass_bar(struct gs_context *ctx)
{
    if (atomic_exchange(&ctx->divided, true))
        return;
    while (atomic_load(&ctx->passing))
        sched_yield();
}

#endif
