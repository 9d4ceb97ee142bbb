/* SPDX-License-Identifier: MIT */
/* `safe` is never above the plain bound it grew from, segment by segment.
 * Arguments: seed, number of sets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gema/analysis.h"
#include "gema/generate.h"
#include "tests/gema/baseline.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 12 };

/* In units of 0.1 ms: the plain bound's search goes on unit by unit where all servers are busy. */
static void coarsen(struct gs_model *m)
{
    enum { UNIT = 100000 };
    for (size_t i = 0; i < m->n_tasks; i++) {
        struct gs_task *t = &m->tasks[i];
        t->deadline_ns = t->period_ns /= UNIT;
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            for (size_t j = 0; j < t->chains[g].n; j++) {
                struct gs_segment *s = &t->chains[g].segments[j];
                s->best_ns = s->worst_ns = s->worst_ns / UNIT + 1;
            }
    }
}

static struct gs_model some_set(struct rng *r)
{
    struct gs_generator g;
    struct gs_random random;
    struct gs_model m;
    struct set_shape shape = {3 + rnd(r, 4), 1 + rnd(r, 5), 1 + rnd(r, 20), 10 + rnd(r, 90),
                              1 + rnd(r, 4), rnd(r, 2),     rnd(r, 2),      rnd(r, 3) == 0};
    if (rnd(r, 2)) {
        m = random_set(r, &shape);
        m.pieces = GS_PIECES_ANY;
        return m;
    }
    gs_generator_default(&g);
    gs_random_seed(&random, r->state, 1);
    gs_generate_begin(&g, &m);
    for (unsigned n = 2 + rnd(r, MAX_TASKS - 2); n; n--)
        if (gs_generate_task(&g, &random, &m))
            abort();
    coarsen(&m);
    if (gs_model_finish(&m))
        abort();
    return m;
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 6);
    long sets = argc > 2 ? atol(argv[2]) : 20000, plain = 0, safe = 0;
    uint64_t below = 0, equal = 0;
    struct baseline *b = calloc(MAX_TASKS, sizeof *b);
    for (long k = 0; k < sets; k++) {
        struct gs_model m = some_set(&rng);
        int modes[MAX_TASKS];
        random_modes(&rng, &m, modes);
        struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        const struct gs_result *r = gs_analyze(a, modes);
        bool accepted = baseline_analyze(&m, modes, b), ok = !accepted || r->schedulable;
        plain += accepted;
        safe += r->schedulable;
        for (size_t i = 0; accepted && i < m.n_tasks; i++)
            for (size_t j = 0; j < m.tasks[i].chains[modes[i]].n; j++) {
                ok = ok && r->tasks[i].segments[j].response_ns <= b[i].w[j];
                below += r->tasks[i].segments[j].response_ns < b[i].w[j];
                equal += r->tasks[i].segments[j].response_ns == b[i].w[j];
            }
        if (!ok) {
            print_set(&m, modes);
            printf("set %ld: safe is above the plain bound\n", k);
            return 1;
        }
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    printf("%ld sets: plain bound accepts %ld, safe %ld; %" PRIu64 " segments below, %" PRIu64 " equal\n", sets, plain,
           safe, below, equal);
    free(b);
    return !below;
}
