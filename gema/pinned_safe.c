/* SPDX-License-Identifier: MIT */
/* Theorem 11 for pinned tasks: each task sees two servers, its CPU and the GPU. */
#include <stdlib.h>

#include "gema/pinned.h"
#include "gema/window.h"

enum { MAX_CHAIN = 2 * GS_PINNED_MAX_SEGMENTS + 1 };

/* The job as a chain: half of a GPU segment's CPU time before it, half after. All shortest times are 0. */
static size_t chain_of(const struct gs_pinned_task *t, int64_t handover, struct gs_segment *s)
{
    size_t n = 0;
    int64_t cpu = t->cpu[0];
    for (int j = 0; j < t->n; j++) {
        s[n++] = (struct gs_segment){.resource = GS_CPU, .worst_ns = cpu + t->misc[j] / 2};
        s[n++] = (struct gs_segment){.resource = GS_GPU, .worst_ns = t->pure[j] + 2 * handover};
        cpu = t->cpu[j + 1] + t->misc[j] - t->misc[j] / 2;
    }
    s[n++] = (struct gs_segment){.resource = GS_CPU, .worst_ns = cpu};
    return n;
}

/* For how long the task may hold the GPU from one that is more urgent. */
static int64_t held_by(const struct gs_pinned_task *t, int64_t held, int64_t handover)
{
    int64_t longest = 0;
    for (int j = 0; j < t->n; j++)
        longest = t->pure[j] + 2 * handover > longest ? t->pure[j] + 2 * handover : longest;
    return held >= 0 && held < longest ? held : longest;
}

/* One set under analysis: the servers hold what is above the next task. */
struct pinned {
    const struct gs_pinned_set *set;
    int64_t held, handover;
    struct gs_servers cpus[GS_PINNED_MAX_CPUS], gpu;
};

/* The bound of when each of the chain's segments has ended, after the release; false: that may be after the deadline.
 */
static bool ends_of(struct pinned *p, size_t i, const struct gs_chain *c, int64_t *ends)
{
    const struct gs_pinned_task *t = &p->set->tasks[i];
    struct gs_servers servers[GS_RESOURCES] = {[GS_CPU] = p->cpus[t->cpu_id], [GS_GPU] = p->gpu};
    struct gs_window windows[GS_RESOURCES] = {0};
    struct gs_segment_result delays[MAX_CHAIN];
    int64_t lower = 0, work = 0;
    for (size_t l = i + 1; l < p->set->n; l++) {
        const int64_t held = held_by(&p->set->tasks[l], p->held, p->handover);
        lower = held > lower ? held : lower;
    }
    windows[GS_CPU].wait = (struct gs_wait){.pieces = 1, .preemptive = true};
    windows[GS_GPU].wait = (struct gs_wait){.pieces = 1, .preemptive = p->held == 0, .chunked = p->held > 0};
    if (p->held) {
        windows[GS_GPU].wait.lower = &lower;
        windows[GS_GPU].wait.own = held_by(t, p->held, p->handover);
    }
    gs_wait_prepare(&windows[GS_CPU].wait, &servers[GS_CPU]);
    gs_wait_prepare(&windows[GS_GPU].wait, &servers[GS_GPU]);
    for (size_t j = 0; j < c->n; j++)
        delays[j] = (struct gs_segment_result){.delay_ns = 2 * t->period_ns};
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_chain first = {c->segments, j + 1};
        work += c->segments[j].worst_ns;
        if (work > t->period_ns)
            return false;
        ends[j] = work + gs_window_waits(windows, servers, &first, delays, t->period_ns + 1 - work);
        if (ends[j] > t->period_ns)
            return false;
    }
    return true;
}

/* Makes the chain one of those that the tasks below wait for. */
static void add_above(struct pinned *p, const struct gs_pinned_task *t, const struct gs_chain *c, const int64_t *ends)
{
    struct gs_servers *of[GS_RESOURCES] = {[GS_CPU] = &p->cpus[t->cpu_id], [GS_GPU] = &p->gpu};
    for (int r = 0; r < GS_RESOURCES; r++)
        if (of[r] && (r == GS_CPU || t->n))
            gs_servers_begin(of[r], 1, t->period_ns, GS_GROUP_ONLY);
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        const int64_t ready = j ? ends[j - 1] : 0;
        gs_servers_add(of[s->resource], s->worst_ns, ready, ends[j] - s->worst_ns - ready, 0);
    }
}

static bool analyze(struct pinned *p, int64_t *response)
{
    struct gs_segment segments[MAX_CHAIN];
    int64_t ends[MAX_CHAIN];
    for (size_t i = 0; i < p->set->n && !p->set->tasks[i].best_effort; i++) {
        const struct gs_pinned_task *t = &p->set->tasks[i];
        const struct gs_chain c = {segments, chain_of(t, p->handover, segments)};
        if (!ends_of(p, i, &c, ends))
            return false;
        response[i] = ends[c.n - 1];
        add_above(p, t, &c, ends);
    }
    return true;
}

bool gs_pinned_safe(const struct gs_pinned_set *set, int64_t held, int64_t handover, int64_t *response)
{
    struct pinned p = {.set = set, .held = held, .handover = handover};
    bool ok = gs_servers_init(&p.gpu, 1, set->n * MAX_CHAIN, set->n) == 0;
    for (int k = 0; k < set->cpus; k++)
        ok = gs_servers_init(&p.cpus[k], 1, set->n * MAX_CHAIN, set->n) == 0 && ok;
    ok = ok && analyze(&p, response);
    gs_servers_free(&p.gpu);
    for (int k = 0; k < set->cpus; k++)
        gs_servers_free(&p.cpus[k]);
    return ok;
}
