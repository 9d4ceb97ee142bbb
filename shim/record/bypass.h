/* SPDX-License-Identifier: MIT */
/* Commands that need no book-keeping: while no launch of a context has ever been split, all bytes are at home, and what
 * is there stays there. Most go by shim/record/fast_path.h, without the context's lock: the first split lets those that
 * are on their way arrive before it looks at what it must come after. From then on there are none. */
#ifndef GS_SHIM_RECORD_BYPASS_H
#define GS_SHIM_RECORD_BYPASS_H

#include "shim/record/size.h"

/* May a launch be handed on, as long as nothing of its context has ever been elsewhere than at home, once what it
 * writes is known to be defined? It won't be split: whatever it is; or by its size, which is to be asked for. */
enum gs_passes { GS_PASSES_NOT, GS_PASSES, GS_PASSES_BY_SIZE };
static inline enum gs_passes gs_kernel_passes_defined(const struct gs_kernel *k)
{
    if (atomic_load_explicit(&k->unsplittable, memory_order_relaxed))
        return GS_PASSES;
    return atomic_load_explicit(&k->risen, memory_order_relaxed) ? GS_PASSES_NOT : GS_PASSES_BY_SIZE;
}

static inline bool gs_kernel_is_fresh(const struct gs_kernel *k)
{
    return atomic_load_explicit(&k->fresh, memory_order_relaxed);
}

/* Before a launch is put in order that will be carried out elsewhere than at home. With the context's lock held. */
static inline void gs_pass_bar(struct gs_context *ctx)
{
    if (atomic_exchange(&ctx->divided, true))
        return;
    gs_fast_path_care(GS_CARE_DIVIDED);
    gs_fast_path_bar();
}

#endif
