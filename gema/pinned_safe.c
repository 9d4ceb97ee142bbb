/* SPDX-License-Identifier: MIT */
/* Theorem 11 for pinned tasks: each task sees two servers, its CPU and the GPU. */
#include <stdlib.h>

#include "gema/pinned.h"
#include "gema/window.h"

enum { MAX_CHAIN = 2 * GS_PINNED_MAX_SEGMENTS + 1 };

/* The job as a chain: half of a GPU segment's CPU time before it, half after; with the hand-over to each GPU segment.
 * All shortest times are 0. */
static size_t chain_of(const struct gs_pinned_task *t, int64_t handover, struct gs_segment *s)
{
    size_t n = 0;
    int64_t cpu = t->cpu[0];
    for (int j = 0; j < t->n; j++) {
        s[n++] = (struct gs_segment){.resource = GS_CPU, .worst_ns = cpu + t->misc[j] / 2};
        s[n++] = (struct gs_segment){.resource = GS_GPU, .worst_ns = t->pure[j] + handover};
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
        longest = t->pure[j] + handover > longest ? t->pure[j] + handover : longest;
    return held >= 0 && held < longest ? held : longest;
}

/* One set under analysis: the servers hold what is above the next task. */
struct pinned {
    const struct gs_pinned_set *set;
    int64_t held, handover, back; /* back: the hand-over to whom a segment has interrupted; 0: none can be */
    struct gs_servers cpus[GS_PINNED_MAX_CPUS], gpu;
};

/* The longest that one of the tasks may hold the GPU, of those that `below` says are below; NULL: of those after i. */
static int64_t lower_of(const struct pinned *p, size_t i, const bool *below)
{
    int64_t lower = 0;
    for (size_t l = 0; l < p->set->n; l++) {
        const int64_t held = held_by(&p->set->tasks[l], p->held, p->handover);
        if ((below ? below[l] : l > i) && held > lower)
            lower = held;
    }
    return lower;
}

/* What a segment waits at most in a window of its own; beyond the period: far. */
static int64_t delay_of(const struct gs_wait *wait, struct gs_servers *servers, int64_t worst, int64_t period)
{
    struct gs_wait w = *wait;
    int64_t blocking;
    w.known = w.flat = -1;
    const int64_t delay = gs_delay_safe(&w, servers, worst, period + 1, &blocking);
    return delay > period ? 2 * period : delay;
}

/* The bound of when each of the chain's segments has ended, after the release; false: that may be after the deadline.
 */
static bool ends_of(struct pinned *p, size_t i, const struct gs_chain *c, const bool *below, int64_t *ends)
{
    const struct gs_pinned_task *t = &p->set->tasks[i];
    struct gs_servers servers[GS_RESOURCES] = {[GS_CPU] = p->cpus[t->cpu_id], [GS_GPU] = p->gpu};
    struct gs_window windows[GS_RESOURCES] = {0};
    struct gs_segment_result delays[MAX_CHAIN];
    const int64_t lower = lower_of(p, i, below);
    int64_t work = 0, on_gpu = 0; /* on_gpu: for tasks below, and no more than a period, as lemma 11 wants */
    for (int j = 0; j < t->n; j++)
        on_gpu += t->pure[j] + p->handover + p->back;
    if (on_gpu > t->period_ns)
        return false;
    windows[GS_CPU].wait = (struct gs_wait){.pieces = 1, .preemptive = true};
    windows[GS_GPU].wait = (struct gs_wait){.pieces = 1, .preemptive = p->held == 0, .chunked = p->held > 0};
    if (p->held) {
        windows[GS_GPU].wait.lower = &lower;
        windows[GS_GPU].wait.own = held_by(t, p->held, p->handover);
    }
    gs_wait_prepare(&windows[GS_CPU].wait, &servers[GS_CPU]);
    gs_wait_prepare(&windows[GS_GPU].wait, &servers[GS_GPU]);
    for (size_t j = 0; j < c->n; j++)
        delays[j] = (struct gs_segment_result){.delay_ns = delay_of(&windows[c->segments[j].resource].wait,
                                                                    &servers[c->segments[j].resource],
                                                                    c->segments[j].worst_ns, t->period_ns)};
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_chain first = {c->segments, j + 1};
        work += c->segments[j].worst_ns;
        if (work > t->period_ns)
            return false;
        ends[j] = work + gs_window_waits(windows, servers, &first, delays, t->period_ns + 1 - work);
        const int64_t alone = (j ? ends[j - 1] : 0) + c->segments[j].worst_ns + delays[j].delay_ns;
        ends[j] = alone < ends[j] ? alone : ends[j];
        if (ends[j] > t->period_ns)
            return false;
    }
    return true;
}

/* Puts the chain's segments on one kind of server above what comes; each takes `back` more from that. */
static void add_above(struct gs_servers *s, int resource, const struct gs_pinned_task *t, const struct gs_chain *c,
                      const int64_t *ends, int64_t back)
{
    if (resource == GS_GPU && !t->n)
        return;
    gs_servers_begin(s, 1, t->period_ns, GS_GROUP_ONLY);
    for (size_t j = 0; j < c->n; j++) {
        const int64_t worst = c->segments[j].worst_ns, last = ends[j] - worst, before = j ? ends[j - 1] : 0,
                      ready = before < last ? before : last;
        if ((int)c->segments[j].resource == resource)
            gs_servers_add(s, worst + back, ready, last - ready, 0);
    }
}

static bool analyze(struct pinned *p, int64_t *response)
{
    struct gs_segment segments[MAX_CHAIN];
    int64_t ends[MAX_CHAIN];
    for (size_t i = 0; i < p->set->n && !p->set->tasks[i].best_effort; i++) {
        const struct gs_pinned_task *t = &p->set->tasks[i];
        const struct gs_chain c = {segments, chain_of(t, p->handover, segments)};
        if (!ends_of(p, i, &c, NULL, ends))
            return false;
        response[i] = ends[c.n - 1];
        add_above(&p->cpus[t->cpu_id], GS_CPU, t, &c, ends, 0);
        add_above(&p->gpu, GS_GPU, t, &c, ends, p->back);
    }
    return true;
}

/* Does the task meet its deadline below all tasks but those that `below` says? Of the others nothing is known but that
 * they do. */
static bool responds_above(struct pinned *p, size_t i, const bool *below)
{
    struct gs_segment segments[MAX_CHAIN];
    int64_t ends[MAX_CHAIN];
    gs_servers_cut(&p->gpu, 0, 0);
    for (int k = 0; k < p->set->cpus; k++)
        gs_servers_cut(&p->cpus[k], 0, 0);
    for (size_t h = 0; h < p->set->n; h++) {
        const struct gs_pinned_task *t = &p->set->tasks[h];
        const struct gs_chain c = {segments, chain_of(t, p->handover, segments)};
        for (size_t j = 0; j < c.n; j++)
            ends[j] = t->period_ns;
        if (h == i || below[h])
            continue;
        if (t->cpu_id == p->set->tasks[i].cpu_id)
            add_above(&p->cpus[t->cpu_id], GS_CPU, t, &c, ends, 0);
        add_above(&p->gpu, GS_GPU, t, &c, ends, p->back);
    }
    const struct gs_chain own = {segments, chain_of(&p->set->tasks[i], p->handover, segments)};
    return ends_of(p, i, &own, below, ends);
}

/* Audsley's order of the tasks: the lowest place goes to any task that can have it, the next one likewise. */
static bool has_order(struct pinned *p, int *rank)
{
    bool below[GS_PINNED_MAX_TASKS];
    size_t left = 0;
    for (size_t i = 0; i < p->set->n; i++) {
        below[i] = p->set->tasks[i].best_effort;
        left += !below[i];
    }
    while (left > 0) {
        size_t i = p->set->n;
        while (i > 0 && (below[i - 1] || !responds_above(p, i - 1, below)))
            i--;
        if (!i)
            return false;
        below[i - 1] = true;
        rank[i - 1] = (int)left;
        left--;
    }
    return true;
}

/* Response times; with `rank` an order instead. */
static bool with_servers(struct pinned *p, int64_t *response, int *rank)
{
    bool ok = gs_servers_init(&p->gpu, 1, p->set->n * MAX_CHAIN, p->set->n) == 0;
    for (int k = 0; k < p->set->cpus; k++)
        ok = gs_servers_init(&p->cpus[k], 1, p->set->n * MAX_CHAIN, p->set->n) == 0 && ok;
    ok = ok && (rank ? has_order(p, rank) : analyze(p, response));
    gs_servers_free(&p->gpu);
    for (int k = 0; k < p->set->cpus; k++)
        gs_servers_free(&p->cpus[k]);
    return ok;
}

/* Has a segment several chunks, so that it can be interrupted? */
static bool has_chunks(const struct gs_pinned_set *set, int64_t chunk)
{
    bool has = false;
    for (size_t i = 0; i < set->n; i++)
        for (int j = 0; j < set->tasks[i].n; j++)
            has = has || set->tasks[i].pure[j] > chunk;
    return has;
}

/* For so long lower priorities may hold the GPU when a segment asks for it; -1: a whole segment of theirs; 0: it is
 * preempted at once. */
static struct pinned pinned_of(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s)
{
    if (s->kind != GS_PINNED_CHUNKED)
        return (struct pinned){.set = set};
    const int64_t held = s->chunk_ns == GS_PINNED_WHOLE_SEGMENT ? -1 : s->depth * s->chunk_ns + s->handover_ns;
    return (struct pinned){.set = set,
                           .held = held,
                           .handover = s->handover_ns,
                           .back = has_chunks(set, s->chunk_ns) ? s->handover_ns : 0};
}

bool gs_pinned_safe(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                    int64_t *response)
{
    struct pinned p = pinned_of(set, s);
    (void)rank;
    return with_servers(&p, response, NULL);
}

bool gs_pinned_safe_order(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, int *rank)
{
    struct pinned p = pinned_of(set, s);
    return with_servers(&p, NULL, rank);
}
