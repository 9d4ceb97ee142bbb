/* SPDX-License-Identifier: MIT */
/* No simulated response exceeds the `safe` bound: random small sets over all release offsets, and with random gaps,
 * execution times and choices of server; and such sets granted in chunks of random lengths, with pauses, some with an
 * application below all tasks, of which the analysis knows nothing but its chunks, or with several that keep servers
 * for longer. Arguments: seed, number of sets, and random runs of each, which leaves all offsets out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/analysis.h"
#include "gema/sim.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 9, MAX_USERS = 2, MAX_OFFSETS = 1500 };

/* Whose applications keep servers: what they have spent of their patience, in hundredths, and when; and until when an
 * offence of theirs is remembered. */
struct user {
    int64_t spent, at, until;
};

struct trial {
    struct rng *rng;
    const struct gs_model *model;
    int modes[MAX_TASKS];
    const struct gs_result *bound; /* of the first of the model's tasks */
    long runs;                     /* at random, for each set */
    bool all_offsets;
    int gap_odds, time_odds; /* one in so many differs from the ordinary */
    struct user users[MAX_USERS];
    int64_t longest; /* period */
    bool joined;     /* ... which knows segments of one kind that follow each other as one */
    uint64_t checks, tight;
};

static int64_t any_gap(void *context, size_t task, uint64_t job)
{
    struct trial *t = context;
    unsigned period = (unsigned)t->model->tasks[task].period_ns;
    return rnd(t->rng, (unsigned)t->gap_odds) ? 0 : rnd(t->rng, period + 1);
}

static int64_t any_time(void *context, size_t task, uint64_t job, size_t segment, int piece)
{
    struct trial *t = context;
    const struct gs_segment *s = &t->model->tasks[task].chains[t->modes[task]].segments[segment];
    if (rnd(t->rng, (unsigned)t->time_odds))
        return s->worst_ns;
    return s->best_ns + rnd(t->rng, (unsigned)(s->worst_ns - s->best_ns) + 1);
}

static unsigned any_server(void *context, unsigned n)
{
    struct trial *t = context;
    return rnd(t->rng, n);
}

static int64_t any_length(void *context, int64_t most)
{
    struct trial *t = context;
    return rnd(t->rng, (unsigned)t->time_odds) ? most : 1 + rnd(t->rng, (unsigned)most);
}

static int64_t any_handover(void *context, int64_t most)
{
    struct trial *t = context;
    return rnd(t->rng, (unsigned)t->time_odds) ? most : rnd(t->rng, (unsigned)most + 1);
}

/* An application below all tasks keeps its server, mostly for as long as the daemon lets its user (theorem 10). */
static int64_t keep(void *context, size_t task, enum gs_resource r, int64_t now, int64_t waited)
{
    struct trial *t = context;
    const struct gs_model *m = t->model;
    if (task < t->bound->n_tasks || !m->liars)
        return 0;
    struct user *u = &t->users[task % (size_t)m->liars];
    const int64_t unit = m->depth * m->chunk_ns[r] + m->handover_ns,
                  patience = m->patience_ns[r] * GS_CONFIG_COMES_BACK;
    u->spent = u->spent > now - u->at ? u->spent - (now - u->at) : 0;
    u->at = now;
    const int64_t left = patience > u->spent ? (patience - u->spent) / GS_CONFIG_COMES_BACK : 0;
    const bool may = waited + 1 <= unit + (now < u->until ? m->late_ns : left);
    if (waited ? may && rnd(t->rng, 20) : rnd(t->rng, 8))
        return 1;
    if (now >= u->until && waited && !may && rnd(t->rng, 4))
        *u = (struct user){.at = now, .until = now + t->longest + 1};
    else if (waited > unit)
        u->spent += (waited - unit) * GS_CONFIG_COMES_BACK;
    return 0;
}

/* Does every task for which the bound is claimed keep it, as a whole and in each segment? */
static bool holds(struct trial *t, const struct gs_sim_task *seen, const struct gs_sim_setup *setup)
{
    for (size_t i = 0; i < t->bound->n_tasks; i++) {
        const struct gs_task_result *b = &t->bound->tasks[i];
        const struct gs_chain *c = &t->model->tasks[i].chains[t->modes[i]];
        if (!b->proven || b->response_ns > t->model->tasks[i].period_ns)
            return true; /* nothing is claimed of those below either */
        bool ok = seen[i].response <= b->response_ns;
        for (size_t j = 0; j < c->n && !t->joined; j++)
            ok = ok && seen[i].segments[j] <= b->segments[j].response_ns;
        t->checks++;
        t->tight += seen[i].response == b->response_ns;
        if (ok)
            continue;
        printf("task %zu: bound %" PRId64 ", seen %" PRId64 "\noffsets", i, b->response_ns, seen[i].response);
        for (size_t k = 0; k < t->model->n_tasks; k++)
            printf(" %" PRId64, setup->offsets[k]);
        printf("\nsegments (bound, seen):");
        for (size_t j = 0; j < c->n && !t->joined; j++)
            printf(" (%" PRId64 ", %" PRId64 ")", b->segments[j].response_ns, seen[i].segments[j]);
        printf("\n");
        print_set(t->model, t->modes);
        return false;
    }
    return true;
}

/* The next combination of offsets below the periods; false after the last. */
static bool next_offsets(const struct gs_model *m, int64_t *offsets)
{
    for (size_t i = 0; i < m->n_tasks; i++) {
        if (++offsets[i] < m->tasks[i].period_ns)
            return true;
        offsets[i] = 0;
    }
    return false;
}

static bool try_all_offsets(struct trial *t, struct gs_sim *s)
{
    int64_t offsets[MAX_TASKS] = {0}, combinations = 1, horizon = 0;
    for (size_t i = 0; i < t->model->n_tasks; i++) {
        combinations *= t->model->tasks[i].period_ns;
        horizon = t->model->tasks[i].period_ns > horizon ? t->model->tasks[i].period_ns : horizon;
    }
    struct gs_sim_setup setup = {.modes = t->modes, .offsets = offsets, .horizon = 6 * horizon};
    if (!t->all_offsets || combinations > MAX_OFFSETS)
        return true;
    do
        if (!holds(t, gs_sim_run(s, &setup), &setup))
            return false;
    while (next_offsets(t->model, offsets));
    return true;
}

static bool try_at_random(struct trial *t, struct gs_sim *s)
{
    int64_t offsets[MAX_TASKS], horizon = 0;
    for (size_t i = 0; i < t->model->n_tasks; i++)
        horizon = t->model->tasks[i].period_ns > horizon ? t->model->tasks[i].period_ns : horizon;
    t->longest = horizon;
    struct gs_sim_setup setup = {.modes = t->modes,
                                 .offsets = offsets,
                                 .horizon = (t->model->liars ? 8 : 20) * horizon,
                                 .context = t,
                                 .gap = any_gap,
                                 .time = any_time,
                                 .chunk = any_length,
                                 .handover = any_handover,
                                 .burst = any_length,
                                 .pause = any_handover,
                                 .keep = keep,
                                 .pick = any_server};
    for (long run = 0; run < t->runs; run++) {
        for (size_t i = 0; i < t->model->n_tasks; i++)
            offsets[i] = rnd(t->rng, (unsigned)t->model->tasks[i].period_ns);
        t->gap_odds = 1 + (int)rnd(t->rng, 5);
        t->time_odds = 1 + (int)rnd(t->rng, 6);
        memset(t->users, 0, sizeof t->users);
        if (!holds(t, gs_sim_run(s, &setup), &setup))
            return false;
    }
    return true;
}

/* Adds an application below all tasks, which has the link or a GPU in every period. */
static void add_application(struct rng *rng, struct gs_model *m)
{
    enum gs_resource r = m->chunked[GS_PCI] && rnd(rng, 2) ? GS_PCI : GS_GPU;
    if (!m->chunked[r])
        r = GS_PCI;
    int at = gs_model_add_task(m, "application", 12, 12);
    m->tasks[at].priority = INT64_MIN + (int64_t)rnd(rng, 100);
    memcpy(m->tasks[at].chunk_ns, m->chunk_ns, sizeof m->chunk_ns);
    for (int g = 1; g <= m->servers[GS_GPU]; g++) {
        struct gs_segment s = {.resource = r, .best_ns = 1, .worst_ns = 12};
        gs_model_set_chain(m, (size_t)at, g, &s, 1);
    }
    if (gs_model_finish(m))
        abort();
}

/* Segments of one kind, granted in chunks, that follow each other become one, with a pause of no time between. */
static void join_segments(struct gs_model *m)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= m->servers[GS_GPU]; g++) {
            struct gs_chain *c = &m->tasks[i].chains[g];
            size_t n = 0;
            for (size_t j = 0; j < c->n; j++) {
                struct gs_segment *s = &c->segments[j], *last = n ? &c->segments[n - 1] : NULL;
                if (!last || last->resource != s->resource || !m->chunked[s->resource] || !last->worst_ns ||
                    !s->worst_ns || !last->chunks != !s->chunks) {
                    c->segments[n++] = *s;
                    continue;
                }
                last->best_ns += s->best_ns;
                last->worst_ns += s->worst_ns;
                last->pauses += s->pauses + 1;
                last->pause_ns += s->pause_ns;
                last->chunks += s->chunks;
            }
            c->n = n;
        }
}

static bool try_set(struct trial *t, struct gs_model *m, bool chunked, bool with_application, long *claimed)
{
    if (chunked)
        make_chunked(t->rng, m);
    for (int r = GS_PCI; r <= GS_GPU; r++)
        m->chunk_ns[r] = m->chunked[r] && with_application ? 1 + rnd(t->rng, 3) : 0;
    if (chunked && with_application && rnd(t->rng, 4))
        make_liars(t->rng, m);
    random_modes(t->rng, m, t->modes);
    struct gs_model known;
    if (gs_model_copy(&known, m))
        abort();
    t->joined = chunked && rnd(t->rng, 2);
    if (t->joined)
        join_segments(&known);
    struct gs_analyzer *a = gs_analyzer_new(&known, GS_ANALYSIS_SAFE);
    t->bound = gs_analyze(a, t->modes);
    *claimed += t->bound->schedulable;
    for (unsigned k = chunked && with_application ? 1 + (m->liars ? rnd(t->rng, 3) : 0) : 0; k; k--) {
        t->modes[m->n_tasks] = 1 + (int)rnd(t->rng, (unsigned)m->servers[GS_GPU]);
        add_application(t->rng, m);
    }
    t->model = m;
    struct gs_sim *s = gs_sim_new(m);
    bool ok = try_all_offsets(t, s) && try_at_random(t, s);
    gs_sim_free(s);
    gs_analyzer_free(a);
    gs_model_free(&known);
    return ok;
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 20);
    long sets = argc > 2 ? atol(argv[2]) : 1000, claimed = 0;
    struct trial t = {.rng = &rng, .runs = argc > 3 ? atol(argv[3]) : 60, .all_offsets = argc <= 3};
    for (long k = 0; k < sets; k++) {
        struct set_shape shape = {3 + rnd(&rng, 3), 1 + rnd(&rng, 5), 1 + rnd(&rng, 8),  4 + rnd(&rng, 28),
                                  1 + rnd(&rng, 4), rnd(&rng, 2),     rnd(&rng, 3) != 0, rnd(&rng, 2)};
        if (shape.woven)
            shape.max_period += 30;
        struct gs_model m = random_set(&rng, &shape);
        bool ok = try_set(&t, &m, k & 1, rnd(&rng, 2), &claimed);
        gs_model_free(&m);
        if (!ok) {
            printf("set %ld exceeds its bound\n", k);
            return 1;
        }
    }
    printf("%ld sets, %ld schedulable: %" PRIu64 " responses checked, %" PRIu64 " equal their bound\n", sets, claimed,
           t.checks, t.tight);
    return t.tight == 0;
}
