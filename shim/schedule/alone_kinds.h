/* SPDX-License-Identifier: MIT */
/* Which launches alone mode knows, and what it learns of how long they take. By the thread that goes alone. */
#ifndef GS_SHIM_SCHEDULE_ALONE_KINDS_H
#define GS_SHIM_SCHEDULE_ALONE_KINDS_H

#include "shim/schedule/alone.h"

static inline uint64_t gs_alone_hash(const struct gs_op *op)
{
    uint64_t hash = op->dims * 2 + (op->local != NULL);
    for (cl_uint d = 0; d < op->dims; d++)
        hash = (hash ^ op->global[d] ^ (op->local ? (uint64_t)op->local[d] << 40 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

static inline bool gs_alone_is_well_formed(const struct gs_op *op)
{
    return op->global && op->dims >= 1 && op->dims <= 3;
}

/* Null: it isn't known. */
static inline struct gs_alone_kind *gs_alone_find(struct gs_alone *a, cl_kernel kernel, uint64_t size)
{
    for (unsigned i = 0; i < a->kinds; i++)
        if (a->kind[i].kernel == kernel && a->kind[i].size == size)
            return &a->kind[i];
    return NULL;
}

static inline bool gs_alone_is_short(const struct gs_alone_kind *kind)
{
    return kind && kind->ns <= GS_ALONE_NS;
}

/* An application may have let kernels go, whose handles become others'. */
static inline bool gs_alone_fits(const struct gs_alone *a, const struct gs_alone_kind *kind)
{
    return kind && a->gone == atomic_load_explicit(&gs_kernels_gone, memory_order_relaxed) &&
           a->now.ns + kind->ns <= GS_ALONE_NS;
}

/* A launch of that kernel at this size (a hash) has gone by a unit: from now on it is known, with what is expected of
 * it; if that is short, or it was known before. */
void gs_alone_know(struct gs_alone *a, const struct gs_kernel *k, const struct gs_followed *f, uint64_t size);

/* An interval has taken so long. Which of its launches did isn't known: all by the same factor. */
void gs_alone_learn(struct gs_alone *a, const struct gs_alone_interval *i, uint64_t took_ns);

/* All that isn't known to have ended. */
struct gs_alone_interval gs_alone_under_way(const struct gs_alone *a);

/* That has been waited for until `now`, since begin_ns (0: not known since when): for so much longer than was expected
 * that its launches take longer? (Else it isn't known whether the device was at work all the time, or the thread woken
 * late.) Then gs_alone_learn_by_wait(). */
bool gs_alone_took_longer(const struct gs_alone_interval *all, uint64_t begin_ns, uint64_t now);
void gs_alone_learn_by_wait(struct gs_alone *a, const struct gs_alone_interval *all, uint64_t took_ns);

/* They have ended by `now`, and can't have begun before a->since_ns; what came behind the marker, if there is one, not
 * before that. */
void gs_alone_learn_at_most(struct gs_alone *a, const struct gs_alone_interval *all, bool marked, uint64_t now);

#endif
