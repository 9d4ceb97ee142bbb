/* SPDX-License-Identifier: MIT */
/* The exact worst responses of tiny task sets against the `safe` bound, written independently of the simulator: time
 * goes on unit by unit, and every state is followed in which releases come at any time that the period allows, each
 * piece takes any time between best and worst, and any server is chosen. What the simulator sees at random, this sees
 * all of. Arguments: seed, number of sets. */
#include <stdbool.h>
#include <stdint.h>

#include "gema/analysis.h"

enum { MAX_TASKS = 4, MAX_PIECES = 3, MAX_STATES = 150000, IDLE = 255 };

/* One piece: how long it has run and where. It may end whenever it has run for its best time, and must at its worst. */
struct piece {
    uint8_t ran;
    int8_t server; /* -1 waits, -2 ended */
};

/* One task: segment IDLE where it has no job. `since` counts from the last release, up to its period; `ready` from when
 * the segment became ready. */
struct task_state {
    uint8_t segment, since, ready;
    struct piece pieces[MAX_PIECES];
};

struct state {
    struct task_state t[MAX_TASKS];
};

#include "tests/gema/explorer.h"

static int pieces_of(const struct explorer *x, size_t i, const struct state *s)
{
    return segment_of(x, i, s)->resource == GS_GPU ? x->modes[i] : 1;
}

static void start_segment(const struct explorer *x, size_t i, struct state *s)
{
    struct task_state *t = &s->t[i];
    t->ready = 0;
    memset(t->pieces, 0, sizeof t->pieces);
    for (int p = 0; p < MAX_PIECES; p++)
        t->pieces[p].server = p < pieces_of(x, i, s) ? -1 : -2;
}

/* Everything that was ready in this unit has been served; a task's job ends or goes on. */
static void end_segments(struct explorer *x, struct state *s)
{
    for (size_t i = 0; i < x->m->n_tasks; i++) {
        struct task_state *t = &s->t[i];
        bool ended = t->segment != IDLE;
        for (int p = 0; p < MAX_PIECES && ended; p++)
            ended = t->pieces[p].server == -2;
        if (!ended)
            continue;
        const struct gs_task_result *b = &x->bound->tasks[i];
        if (t->ready > b->segments[t->segment].response_ns)
            x->broken = true;
        if (++t->segment < x->m->tasks[i].chains[x->modes[i]].n) {
            start_segment(x, i, s);
            continue;
        }
        if (t->since > x->worst[i])
            x->worst[i] = t->since;
        if (t->since > b->response_ns)
            x->broken = true;
        memset(t->pieces, 0, sizeof t->pieces);
        t->segment = IDLE;
        t->ready = 0;
    }
}

static bool on(const struct explorer *x, size_t i, const struct state *s, int r)
{
    return s->t[i].segment != IDLE && (int)segment_of(x, i, s)->resource == r;
}

static void choose_ends(struct explorer *x, const struct state *s, size_t i, int p);

/* One unit of time passes for what holds a server; then every way in which pieces can end. */
static void pass_unit(struct explorer *x, struct state s)
{
    for (size_t i = 0; i < x->m->n_tasks; i++) {
        struct task_state *t = &s.t[i];
        if (t->since < x->m->tasks[i].period_ns)
            t->since++;
        if (t->segment == IDLE)
            continue;
        t->ready++;
        /* Already beyond what is claimed: no need to follow it. */
        if (t->ready > x->bound->tasks[i].segments[t->segment].response_ns)
            x->broken = true;
        for (int p = 0; p < MAX_PIECES; p++)
            if (t->pieces[p].server >= 0)
                t->pieces[p].ran++;
    }
    choose_ends(x, &s, 0, 0);
}

/* All combinations of the pieces from (i, p) on ending now or not. */
static void choose_ends(struct explorer *x, const struct state *s, size_t i, int p)
{
    for (; i < x->m->n_tasks; i++, p = 0)
        for (; s->t[i].segment != IDLE && p < MAX_PIECES; p++) {
            const struct piece *q = &s->t[i].pieces[p];
            const struct gs_segment *g = segment_of(x, i, s);
            if (q->server < 0 || q->ran < g->best_ns)
                continue;
            struct state ended = *s;
            ended.t[i].pieces[p] = (struct piece){0, -2};
            choose_ends(x, &ended, i, p + 1);
            if (q->ran >= g->worst_ns)
                return;
        }
    struct state next = *s;
    end_segments(x, &next);
    add_state(x, &next);
}

static void serve(struct explorer *x, struct state s, int r, size_t i, int p, bool blocked);

/* The resource is done: the next one, or time passes. */
static void next_resource(struct explorer *x, const struct state *s, int r)
{
    if (r + 1 < GS_RESOURCES) {
        struct state t = *s;
        /* On a preemptive resource everybody asks anew in every unit. */
        if (x->m->preemptive[r + 1])
            for (size_t i = 0; i < x->m->n_tasks; i++)
                for (int p = 0; on(x, i, &t, r + 1) && p < MAX_PIECES; p++)
                    if (t.t[i].pieces[p].server >= 0)
                        t.t[i].pieces[p].server = -1;
        serve(x, t, r + 1, 0, 0, false);
    } else {
        pass_unit(x, *s);
    }
}

static uint64_t held(const struct explorer *x, const struct state *s, int r)
{
    uint64_t servers = 0;
    for (size_t i = 0; i < x->m->n_tasks; i++)
        for (int p = 0; on(x, i, s, r) && p < MAX_PIECES; p++)
            if (s->t[i].pieces[p].server >= 0)
                servers |= UINT64_C(1) << s->t[i].pieces[p].server;
    return servers;
}

/* Gives the servers of r out, from piece (i, p) on, in every way the policy allows. */
static void serve(struct explorer *x, struct state s, int r, size_t i, int p, bool blocked)
{
    int m = x->m->servers[r];
    for (; i < x->m->n_tasks; i++, p = 0) {
        if (!on(x, i, &s, r))
            continue;
        bool several = r == GS_GPU && x->modes[i] > 1;
        int waiting = 0;
        for (int q = 0; q < MAX_PIECES; q++)
            waiting += s.t[i].pieces[q].server == -1;
        if (several && p == 0 && x->m->pieces == GS_PIECES_GANG && waiting > m - __builtin_popcountll(held(x, &s, r)))
            blocked = true;
        for (; p < MAX_PIECES && !blocked; p++) {
            if (s.t[i].pieces[p].server != -1)
                continue;
            uint64_t taken = held(x, &s, r);
            bool own = several && x->m->pieces == GS_PIECES_OWN;
            /* Which free server matters only where pieces have their own. */
            bool branch = r == GS_GPU && x->m->pieces == GS_PIECES_OWN && !own;
            for (int k = own ? p : 0; k < (own ? p + 1 : m); k++) {
                if (taken >> k & 1)
                    continue;
                struct state t = s;
                t.t[i].pieces[p].server = (int8_t)k;
                if (branch) {
                    serve(x, t, r, i, p + 1, blocked);
                } else {
                    s = t;
                    break;
                }
            }
            if (branch && __builtin_popcountll(taken) < m)
                return;
        }
    }
    next_resource(x, &s, r);
}

/* All ways in which idle tasks whose period has passed release a job now. */
static void release(struct explorer *x, const struct state *s, size_t i)
{
    for (; i < x->m->n_tasks; i++)
        if (s->t[i].segment == IDLE && s->t[i].since >= x->m->tasks[i].period_ns) {
            struct state t = *s;
            t.t[i].segment = 0;
            t.t[i].since = 0;
            start_segment(x, i, &t);
            release(x, &t, i + 1);
        }
    struct state t = *s;
    if (x->m->preemptive[0])
        for (i = 0; i < x->m->n_tasks; i++)
            for (int p = 0; on(x, i, &t, 0) && p < MAX_PIECES; p++)
                if (t.t[i].pieces[p].server >= 0)
                    t.t[i].pieces[p].server = -1;
    serve(x, t, 0, 0, 0, false);
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 3);
    long sets = argc > 2 ? atol(argv[2]) : 3000, done = 0, tried = 0;
    uint64_t tight = 0, tasks = 0, states = 0;
    double slack = 0;
    struct explorer x = new_explorer();
    while (done < sets && tried < 40 * sets) {
        struct set_shape shape = {3 + rnd(&rng, 2),
                                  1 + rnd(&rng, 3),
                                  1 + rnd(&rng, 4),
                                  4 + rnd(&rng, 16),
                                  1 + rnd(&rng, 3),
                                  rnd(&rng, 2),
                                  true,
                                  tried % 3 == 0};
        if (shape.woven) {
            shape.max_period += 14;
            shape.max_servers = 1 + rnd(&rng, 2);
        }
        struct gs_model m = random_set(&rng, &shape);
        struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        tried++;
        random_modes(&rng, &m, x.modes);
        /* A best time of 0 would end a piece before it has a server. */
        for (size_t i = 0; i < m.n_tasks; i++)
            for (size_t j = 0; j < m.tasks[i].chains[x.modes[i]].n; j++)
                if (!m.tasks[i].chains[x.modes[i]].segments[j].best_ns)
                    m.tasks[i].chains[x.modes[i]].segments[j].best_ns = 1;
        x.m = &m;
        x.bound = gs_analyze(a, x.modes);
        if (x.bound->schedulable) {
            if (!holds(&x, tried))
                return 1;
            done += !x.too_many;
            states += x.n_states;
            for (size_t i = 0; i < m.n_tasks && !x.too_many; i++) {
                tasks++;
                tight += x.worst[i] == x.bound->tasks[i].response_ns;
                slack += (double)x.bound->tasks[i].response_ns / (double)x.worst[i];
            }
        }
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    printf("%ld sets explored whole, %" PRIu64 " states; %" PRIu64 " of %" PRIu64
           " bounds are exact, bound over exact %.3f on average\n",
           done, states, tight, tasks, slack / (double)(tasks ? tasks : 1));
    free_explorer(&x);
    return tight == 0;
}
