/* SPDX-License-Identifier: MIT */
/* The rows of docs/compare.md: a scheduler each, and the analysis that judges it. */
#include <limits.h>

#include "gema/pinned.h"

/* What no simulation refutes. */
static bool not_refuted(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                        int64_t *response)
{
    enum { RUNS = 4, PERIODS = 8 };
    int64_t offsets[GS_PINNED_MAX_TASKS] = {0};
    struct gs_pinned_walk w = {.offsets = offsets, .rank = rank};
    struct gs_random r;
    (void)response;
    gs_random_seed(&r, 1, set->n);
    for (size_t i = 0; i < set->n; i++)
        w.horizon = PERIODS * set->tasks[i].period_ns > w.horizon ? PERIODS * set->tasks[i].period_ns : w.horizon;
    for (int run = 0; run < RUNS; run++) {
        if (gs_pinned_misses(set, s, &w))
            return false;
        for (size_t i = 0; i < set->n; i++)
            offsets[i] = gs_random_between(&r, 0, set->tasks[i].period_ns - 1);
    }
    return true;
}

/* Where `bound` says no and there is an `order`, it is asked for other priorities. */
static const struct row {
    const char *name;
    gs_pinned_bound *bound;
    gs_pinned_assignment *order;
    bool everywhere;              /* that order, and not on the GPU alone */
    struct gs_pinned_scheduler s; /* but for what the costs say */
} rows[GS_PINNED_ANALYSES] = {
    [GS_PINNED_CHUNKS] = {"chunks", gs_pinned_safe, gs_pinned_safe_order, true, {.kind = GS_PINNED_CHUNKED}},
    [GS_PINNED_AT] = {"chunks-eps", gs_pinned_safe, gs_pinned_safe_order, true, {.kind = GS_PINNED_CHUNKED}},
    [GS_PINNED_WHOLE] = {"whole", gs_pinned_safe, NULL, false, {.kind = GS_PINNED_CHUNKED}},
    [GS_PINNED_QUEUES] = {"queues", gs_pinned_safe, NULL, false, {.kind = GS_PINNED_CHUNKED}},
    [GS_PINNED_IDEAL] = {"ideal", gs_pinned_safe, gs_pinned_safe_order, true, {.kind = GS_PINNED_PREEMPTED}},
    [GS_PINNED_GCAPS] = {"gcaps", gs_pinned_gcaps, gs_pinned_gcaps_order, false, {.kind = GS_PINNED_UPDATED}},
    [GS_PINNED_GCAPS_BUSY] =
        {"gcaps-busy", gs_pinned_gcaps, gs_pinned_gcaps_order, false, {.kind = GS_PINNED_UPDATED, .busy = true}},
    [GS_PINNED_ROBIN] = {"robin", gs_pinned_robin, NULL, false, {.kind = GS_PINNED_SLICED}},
    [GS_PINNED_MPCP] = {"mpcp", gs_pinned_mpcp, NULL, false, {.kind = GS_PINNED_LOCKED}},
    [GS_PINNED_FMLP] = {"fmlp+", gs_pinned_fmlp, NULL, false, {.kind = GS_PINNED_LOCKED, .fifo = true}},
    [GS_PINNED_NOT_REFUTED] = {"ceiling", not_refuted, gs_pinned_safe_order, true, {.kind = GS_PINNED_PREEMPTED}},
};

const char *gs_pinned_name(enum gs_pinned_analysis a)
{
    return rows[a].name;
}

struct gs_pinned_scheduler gs_pinned_scheduler_of(enum gs_pinned_analysis a, const struct gs_pinned_costs *c)
{
    struct gs_pinned_scheduler s = rows[a].s;
    s.epsilon_ns = c->epsilon_ns;
    s.slice_ns = c->slice_ns;
    s.switch_ns = c->switch_ns;
    s.handover_ns = a == GS_PINNED_AT ? c->epsilon_ns : c->handover_ns;
    s.chunk_ns = a == GS_PINNED_WHOLE ? GS_PINNED_WHOLE_SEGMENT : c->chunk_ns;
    s.depth = a == GS_PINNED_WHOLE ? 1 : a == GS_PINNED_QUEUES ? c->queued : c->depth;
    return s;
}

bool gs_pinned_schedulable(const struct gs_pinned_set *set, enum gs_pinned_analysis a, const struct gs_pinned_costs *c,
                           struct gs_pinned_answer *answer)
{
    struct gs_pinned_answer unused;
    const struct gs_pinned_scheduler s = gs_pinned_scheduler_of(a, c);
    answer = answer ? answer : &unused;
    answer->ranked = answer->everywhere = false;
    if (rows[a].bound(set, &s, NULL, answer->response))
        return true;
    for (size_t i = 0; i < set->n; i++) {
        answer->response[i] = set->tasks[i].period_ns;
        answer->rank[i] = INT_MAX; /* of best effort */
    }
    answer->ranked = true;
    answer->everywhere = rows[a].everywhere;
    return rows[a].order && rows[a].order(set, &s, answer->rank);
}
