/* SPDX-License-Identifier: MIT */
#include "shim/schedule/alone_kinds.h"

#include "shim/schedule/batch.h"

void gs_alone_know(struct gs_alone *a, const struct gs_kernel *k, const struct gs_followed *f, uint64_t size)
{
    const uint64_t ns = gs_size_expects(f->size);
    const unsigned gone = atomic_load(&gs_kernels_gone);
    if (a->job != f->job || a->gone != gone) /* something else was decided for this job, or they may be other kernels */
        a->kinds = 0;
    a->job = f->job;
    a->gone = gone;
    a->timed = true;
    struct gs_alone_kind *kind = gs_alone_find(a, k->o.handle, size);
    if (!ns || (ns > GS_ALONE_NS && !kind)) /* what is there is known to have become longer */
        return;
    if (!kind)
        kind = a->kinds < GS_ALONE_KINDS ? &a->kind[a->kinds++] : &a->kind[size % GS_ALONE_KINDS];
    *kind = (struct gs_alone_kind){.kernel = k->o.handle,
                                   .size = size,
                                   .known = f->size,
                                   .ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX,
                                   .ways = k->o.ctx->n == 1 ? GS_ALONE_ONE_DEVICE
                                           : f->always      ? GS_ALONE_ALWAYS
                                                            : GS_ALONE_BY_SIZE};
}

void gs_alone_learn(struct gs_alone *a, const struct gs_alone_interval *i, uint64_t took_ns)
{
    enum { LEAST_NS = 200 };
    for (unsigned k = 0; k < a->kinds && i->ns; k++) {
        const double ns = (double)a->kind[k].ns * (double)took_ns / (double)i->ns;
        if (!(i->uses & 1u << k))
            continue;
        if (ns > a->kind[k].ns)
            gs_size_took(a->kind[k].known, (uint64_t)ns);
        a->kind[k].ns = ns < LEAST_NS ? LEAST_NS : ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
    }
}

struct gs_alone_interval gs_alone_under_way(const struct gs_alone *a)
{
    struct gs_alone_interval all = a->now;
    if (atomic_load(&a->marker)) {
        all.ns += a->marked.ns;
        all.uses |= a->marked.uses;
        all.behind |= a->marked.behind;
    }
    return all;
}

bool gs_alone_took_longer(const struct gs_alone_interval *all, uint64_t begin_ns, uint64_t now)
{
    return begin_ns && !all->behind && now > begin_ns + all->ns + GS_ALONE_NS / 2;
}

void gs_alone_learn_by_wait(struct gs_alone *a, const struct gs_alone_interval *all, uint64_t took_ns)
{
    gs_alone_learn(a, all, took_ns);
    a->now.ns += took_ns - all->ns;
}

void gs_alone_learn_at_most(struct gs_alone *a, const struct gs_alone_interval *all, bool marked, uint64_t now)
{
    const uint64_t all_ns = now - a->since_ns, behind_ns = now - a->marked.end_ns;
    const bool behind = marked && (double)behind_ns / (double)a->now.ns < (double)all_ns / (double)all->ns;
    const struct gs_alone_interval *i = behind ? &a->now : all;
    const uint64_t took_ns = behind ? behind_ns : all_ns;
    if (took_ns < i->ns)
        gs_alone_learn(a, i, took_ns);
}
