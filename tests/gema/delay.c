/* SPDX-License-Identifier: MIT */
/* The search for a segment's delay, and what a task's segments do together, against the definitions of
 * docs/analysis.md: every sum over every job, every y one after the other. Arguments: seed, number of cases. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/delay.h"
#include "gema/window.h"
#include "tests/gema/sets.h"

enum { MAX_SERVERS = 4, MAX_TASKS = 5, MAX_MODES = 3, MAX_STREAMS = 4, MAX_GROUPS = MAX_TASKS * MAX_MODES };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Lemma 1. */
static int64_t work_of(int64_t worst, int64_t period, int64_t length)
{
    int64_t sum = 0;
    for (; length > 0; length -= period)
        sum += least(worst, length);
    return sum;
}

/* Which of the theorem's two windows. */
struct naive_window {
    int64_t reach;
    int carried, lower;
};

static int64_t group_sum(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach)
{
    int64_t sum = 0;
    for (const struct gs_stream *p = &s->streams[g->first]; p < &s->streams[g->first + g->n]; p++)
        sum += work_of(p->worst, g->period, x + p->jitter + least(p->slack, reach));
    return sum;
}

/* What a piece of the group does more if it was ready long before the window. */
static int64_t group_more(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach)
{
    int64_t most = 0;
    for (const struct gs_stream *p = &s->streams[g->first]; p < &s->streams[g->first + g->n]; p++) {
        const int64_t more = work_of(p->worst, g->period, x + p->jitter + p->slack) -
                             work_of(p->worst, g->period, x + p->jitter + least(p->slack, reach));
        most = more > most ? more : most;
    }
    return most;
}

static int descending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* F(y) of theorem 2. */
static int64_t naive_demand(const struct gs_wait *w, const struct gs_servers *s, const struct naive_window *v,
                            int64_t worst, int64_t y, int64_t x)
{
    int64_t total = w->extra * least(worst, y), carried[MAX_GROUPS * MAX_SERVERS] = {0};
    int n_carried = 0;
    if (v->lower || w->pauses)
        total += w->excess;
    for (int i = 0; w->lower && i < s->m; i++)
        if (w->lower[i] > 1)
            total += (i < v->lower ? least(w->lower[i] - 1, y) : 0) + (i ? 0 : w->pauses * (w->lower[0] - 1));
    for (size_t i = 0; i < s->n_groups; i++) {
        int64_t of_task = INT64_MAX;
        for (size_t k = i; k == i || (k < s->n_groups && s->groups[k].next); k++) {
            const struct gs_group *g = &s->groups[k];
            const int64_t pieces = least(g->pieces, w->spread ? w->spread : w->busy);
            of_task = least(of_task, pieces * least(group_sum(s, g, x, v->reach), y));
            i = k;
        }
        total += of_task;
        const struct gs_group *g = &s->groups[i];
        if (!g->only)
            continue;
        const int64_t weight = least(g->pieces, w->busy), more = group_more(s, g, x, v->reach);
        int64_t room = weight * (y - group_sum(s, g, x, v->reach));
        for (int k = 0; k < weight && room > 0; k++, room -= more)
            carried[n_carried++] = least(more, room);
    }
    qsort(carried, (size_t)n_carried, sizeof *carried, descending);
    for (int k = 0; k < v->carried && k < n_carried; k++)
        total += carried[k];
    return total;
}

static int64_t naive_search(const struct gs_wait *w, const struct gs_servers *s, const struct naive_window *v,
                            int64_t worst, int64_t y, int64_t limit)
{
    const int64_t inside = w->preemptive || w->chunked ? worst + w->pause_ns - 1 : 0;
    for (; y <= limit; y++)
        if (naive_demand(w, s, v, worst, y, y + inside) < w->busy * y)
            return y - 1;
    return limit;
}

/* `before`: the delay of the segment before, which is no longer than this one: where the length matters, no y below
 * that is tried again. */
static int64_t naive_delay(const struct gs_wait *w, const struct gs_servers *s, int64_t worst, int64_t before,
                           int64_t limit)
{
    const bool all = w->carry_all || w->spread;
    const struct naive_window whole = {all ? INT64_MAX : 0, all ? 0 : w->busy - 1, w->busy},
                              own = {w->own - 1, w->busy - 1, w->busy - 1};
    const bool matters = w->preemptive || w->chunked || w->extra;
    int64_t delay = naive_search(w, s, &whole, worst, matters ? before + 1 : 1, limit);
    if (!w->preemptive && !all && w->own > 1 && delay < limit)
        delay = naive_search(w, s, &own, worst, delay + 1, limit);
    return delay;
}

/* Psi of lemma 11. */
static int64_t naive_jobs(const struct gs_stream *p, size_t n, int64_t period, int64_t t)
{
    int64_t sum = 0;
    for (; t > 0; t -= period)
        for (size_t k = 0; k < n; k++)
            sum += t > p[k].start ? least(p[k].worst, t - p[k].start) : 0;
    return sum;
}

/* G of lemma 11. */
static int64_t naive_joint(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach)
{
    const struct gs_stream *p = &s->streams[g->first];
    int64_t most = 0;
    for (size_t k = 0; k < g->n; k++) {
        int64_t sum = naive_jobs(p, g->n, g->period, x + p[k].latest + least(p[k].slack, reach));
        for (size_t q = 0; q < k; q++)
            sum -= p[q].worst;
        most = sum > most ? sum : most;
    }
    return most;
}

static uint64_t delays, kept, joints;

/* A task's segments; its period is so long that a job's work has an end within it (lemma 11 asks for that). */
static void add_group(struct rng *r, struct gs_servers *s, int64_t period, enum gs_group_kind kind)
{
    const unsigned n = kind == GS_GROUP_ONLY ? 1 + rnd(r, MAX_STREAMS) : rnd(r, MAX_STREAMS);
    const unsigned late = rnd(r, 3) ? 4 : 25;
    int64_t best = 0, end = 0;
    gs_servers_begin(s, 1 + (int)rnd(r, (unsigned)s->m), period, kind);
    for (unsigned k = 0; k < n; k++) {
        const int64_t worst = 1 + rnd(r, 6), jitter = rnd(r, late);
        gs_servers_add(s, worst, jitter, rnd(r, late), best);
        best += rnd(r, 9);
        end = s->streams[s->n_streams - 1].start + worst;
    }
    if (s->groups[s->n_groups - 1].period < end)
        s->groups[s->n_groups - 1].period = end;
}

static void fill_servers(struct rng *r, struct gs_servers *s)
{
    const unsigned tasks = rnd(r, MAX_TASKS + 1);
    for (unsigned i = 0; i < tasks; i++) {
        const unsigned modes = rnd(r, 3) ? 1 : 2 + rnd(r, MAX_MODES - 1);
        const int64_t period = 8 + rnd(r, 70);
        for (unsigned k = 0; k < modes; k++)
            add_group(r, s, period, modes == 1 ? GS_GROUP_ONLY : k ? GS_GROUP_NEXT : GS_GROUP_FIRST);
    }
}

static struct gs_wait random_wait(struct rng *r, int m, int64_t *lower)
{
    struct gs_wait w = {.pieces = rnd(r, 2) ? 1 : 1 + (int)rnd(r, (unsigned)m), .policy = (enum gs_pieces)rnd(r, 3)};
    w.preemptive = rnd(r, 3) == 0;
    w.chunked = !w.preemptive && rnd(r, 2);
    for (int i = 0; i < m; i++)
        lower[i] = i && rnd(r, 3) ? rnd(r, (unsigned)lower[i - 1] + 1) : i ? lower[i - 1] : rnd(r, 8);
    w.lower = rnd(r, 3) ? lower : NULL;
    w.own = rnd(r, 8);
    w.excess = rnd(r, 4) ? 0 : rnd(r, 9);
    if ((w.preemptive || w.chunked) && rnd(r, 3) == 0) {
        w.pauses = 1 + (int)rnd(r, 2);
        w.pause_ns = rnd(r, 10);
        w.spread = w.chunked && w.pieces > 1 ? w.pieces : 0;
    }
    return w;
}

static bool check_delays(struct rng *r, struct gs_servers *s)
{
    int64_t lower[MAX_SERVERS], blocking, worst = 1, before = 0;
    struct gs_wait w = random_wait(r, s->m, lower);
    const int64_t limit = 10 + rnd(r, 200);
    gs_wait_prepare(&w, s);
    for (int k = 0; k < 8; k++, worst += rnd(r, 4)) {
        const int64_t expected = naive_delay(&w, s, worst, before, limit);
        kept += k && before < limit && w.flat > before + worst + w.pause_ns;
        const int64_t delay = gs_delay_safe(&w, s, worst, limit, &blocking);
        delays++;
        if (delay != expected) {
            printf("segment %d of %" PRId64 ", limit %" PRId64 ": delay %" PRId64 ", one by one %" PRId64
                   " (m %d, busy %d, %s%s, own %" PRId64 ", %zu groups)\n",
                   k, worst, limit, delay, expected, s->m, w.busy, w.preemptive ? "preemptive" : "",
                   w.chunked ? "chunked" : "", w.own, s->n_groups);
            return false;
        }
        before = delay;
    }
    return true;
}

static bool check_joint(struct rng *r, const struct gs_servers *s)
{
    for (size_t i = 0; i < s->n_groups; i++) {
        const int64_t reach = rnd(r, 3) ? rnd(r, 30) : INT64_MAX, x = rnd(r, 200);
        int64_t length;
        const int64_t work = gs_joint_work(s, &s->groups[i], x, reach, &length),
                      expected = naive_joint(s, &s->groups[i], x, reach),
                      later = naive_joint(s, &s->groups[i], x + length, reach);
        joints++;
        if (work != expected || later != work + length) {
            printf("task %zu in %" PRId64 ": together %" PRId64 " and %" PRId64 " more, by sums %" PRId64
                   ", then %" PRId64 "\n",
                   i, x, work, length, expected, later);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct rng r = seed_from(argc, argv, 4711);
    const long cases = argc > 2 ? atol(argv[2]) : 40000;
    for (long k = 0; k < cases; k++) {
        struct gs_servers s;
        if (gs_servers_init(&s, 1 + (int)rnd(&r, MAX_SERVERS), MAX_GROUPS * MAX_STREAMS, MAX_GROUPS))
            abort();
        fill_servers(&r, &s);
        const bool ok = check_delays(&r, &s) && check_joint(&r, &s);
        gs_servers_free(&s);
        if (!ok) {
            printf("case %ld\n", k);
            return 1;
        }
    }
    printf("%" PRIu64 " delays, %" PRIu64 " of them within a window known to be flat; %" PRIu64 " sums of segments\n",
           delays, kept, joints);
    return kept == 0;
}
