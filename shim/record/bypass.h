/* SPDX-License-Identifier: MIT */
/* Commands that need no book-keeping: while no launch of a context has ever been split, all bytes are at home, and what
 * is there stays there. Most go by shim/record/fast_path.h, without the context's lock: the first split lets those that
 * are on their way arrive before it looks at what it must come after. From then on there are none. */
#ifndef GS_SHIM_RECORD_BYPASS_H
#define GS_SHIM_RECORD_BYPASS_H

#include "shim/record/objects.h"

/* What is asked of a size of a kernel at each launch: the head of struct gs_timing. */
struct gs_short {
    _Alignas(GS_LINE) uint64_t global[3];
    uint64_t local[3];  /* zeros for NULL */
    atomic_uint shape;  /* of the last launch that was looked at: gs_size_shape */
    atomic_ushort left; /* known to be too short to gain by a split: so many launches may go without a look at it */
    atomic_ushort
        again; /* so many times as many, while they follow one another too fast for it to have become longer */
};
_Static_assert(sizeof(struct gs_short) == GS_LINE, "one line");

/* Launches of a short kernel for each one that is looked at; and how many times as many. */
enum { GS_PASSING = 127, GS_AGAIN = 7 };

static inline void gs_size_pass(struct gs_short *s, unsigned short again)
{
    atomic_store(&s->again, again);
    atomic_store(&s->left, GS_PASSING);
}

static inline void gs_size_refuse(struct gs_short *s)
{
    atomic_store(&s->again, 0);
    atomic_store(&s->left, 0);
}

/* All that may go without a look have gone: as many again? */
static inline bool gs_size_passes_again(struct gs_short *s)
{
    const unsigned short again = gs_fast_path_is_fast() ? atomic_load(&s->again) : 0;
    if (again)
        gs_size_pass(s, (unsigned short)(again - 1));
    return again;
}

/* The number of dimensions, and whether there is a local size. GS_SHAPE_APART: some of its launches stand apart, by the
 * numbers among their arguments; gs_timing_passes knows which. */
enum { GS_SHAPE_APART = 256 };
static inline unsigned gs_size_shape(cl_uint dims, const size_t *local)
{
    return dims * 2 + (local != NULL);
}

/* The first of GS_SIZE_PLACES places where a kernel may keep what is known of this size. The product's highest bits are
 * all factors' bits. */
static inline unsigned gs_size_place(cl_uint dims, const size_t *global, const size_t *local)
{
    uint64_t x = global[0];
    if (dims > 1)
        x += (uint64_t)global[1] << 20;
    if (dims > 2)
        x += (uint64_t)global[2] << 40;
    if (local)
        x ^= (uint64_t)local[0] << 50;
    return (unsigned)(x * 0x9e3779b97f4a7c15u >> (64 - GS_KERNEL_TIMINGS_LOG2)) / GS_SIZE_PLACES * GS_SIZE_PLACES;
}

static inline bool gs_size_is(const struct gs_short *s, cl_uint dims, const size_t *global, const size_t *local)
{
    for (cl_uint d = 0; d < dims; d++)
        if (s->global[d] != global[d] || (local && s->local[d] != local[d]))
            return false;
    return true;
}

/* What gs_size_of() last found, if that is of this size. */
static inline struct gs_short *gs_size_of_last(const struct gs_kernel *k, cl_uint dims, const size_t *global,
                                               const size_t *local)
{
    struct gs_short *s = (struct gs_short *)atomic_load_explicit(&k->last, memory_order_acquire);
    return s && atomic_load_explicit(&s->shape, memory_order_relaxed) == gs_size_shape(dims, local) && global &&
                   gs_size_is(s, dims, global, local)
               ? s
               : NULL;
}

/* Is the kernel known to be too short at this size? Then a launch on one device needs no look at it; now and then one
 * gets it all the same. Any thread. */
static inline bool gs_size_passes(struct gs_short *s)
{
    const unsigned short left = s ? atomic_load_explicit(&s->left, memory_order_relaxed) : 0;
    /* Two threads at once may take one for two. */
    if (left)
        atomic_store_explicit(&s->left, (unsigned short)(left - 1), memory_order_relaxed);
    return left;
}

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

/* The same where it is known. */
static inline enum gs_passes gs_kernel_passes(const struct gs_kernel *k)
{
    return gs_kernel_is_fresh(k) ? GS_PASSES_NOT : gs_kernel_passes_defined(k);
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
