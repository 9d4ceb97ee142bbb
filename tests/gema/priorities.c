/* SPDX-License-Identifier: MIT */
/* Priorities that were found are ones with which `safe` accepts the set and no simulated job misses its deadline; and
 * they are found for most small sets that have any, by trying all orders and modes. Arguments: seed, number of sets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/priorities.h"
#include "gema/sim.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 6, RUNS = 4 };

static struct rng rng;
static long as_they_are, found, exist, missed;
static uint64_t jobs;

static int64_t any_gap(void *context, size_t task, uint64_t job)
{
    return rnd(&rng, 3) ? 0 : rnd(&rng, 12);
}

static int64_t any_time(void *context, size_t task, uint64_t job, size_t segment, int piece)
{
    const struct gs_model *m = context;
    const int mode = m->tasks[task].fixed_mode;
    const struct gs_segment *s = &m->tasks[task].chains[mode].segments[segment];
    return rnd(&rng, 3) ? s->worst_ns : s->best_ns + rnd(&rng, (unsigned)(s->worst_ns - s->best_ns) + 1);
}

static int64_t any_length(void *context, int64_t most)
{
    return 1 + rnd(&rng, (unsigned)most);
}

static int64_t any_handover(void *context, int64_t most)
{
    return rnd(&rng, (unsigned)most + 1);
}

static bool simulation_agrees(struct gs_model *m, const int *modes)
{
    struct gs_sim *s = gs_sim_new(m);
    bool ok = true;
    for (int run = 0; run < RUNS && ok; run++) {
        int64_t offsets[MAX_TASKS], longest = 0;
        for (size_t i = 0; i < m->n_tasks; i++) {
            const int64_t period = m->tasks[i].period_ns;
            offsets[i] = rnd(&rng, (unsigned)period);
            longest = period > longest ? period : longest;
        }
        const struct gs_sim_setup setup = {.modes = modes,
                                           .offsets = offsets,
                                           .horizon = 20 * longest,
                                           .context = m,
                                           .gap = any_gap,
                                           .time = any_time,
                                           .chunk = any_length,
                                           .handover = any_handover,
                                           .burst = any_length,
                                           .pause = any_handover};
        const struct gs_sim_task *seen = gs_sim_run(s, &setup);
        for (size_t i = 0; i < m->n_tasks; i++) {
            jobs += seen[i].jobs;
            ok = ok && seen[i].response <= m->tasks[i].deadline_ns;
        }
    }
    gs_sim_free(s);
    return ok;
}

/* The set with the priorities and modes that it has now: accepted, and no simulation refutes it. */
static bool holds(struct gs_model *m)
{
    struct gs_analyzer *a = gs_analyzer_new(m, GS_ANALYSIS_SAFE);
    int modes[MAX_TASKS];
    for (size_t i = 0; i < m->n_tasks; i++)
        modes[i] = m->tasks[i].fixed_mode;
    const bool accepted = gs_schedulable(a, modes), ok = accepted && simulation_agrees(m, modes);
    if (!ok)
        print_set(m, modes);
    if (!ok)
        printf("%s\n", accepted ? "a simulated job misses its deadline" : "safe doesn't accept it");
    gs_analyzer_free(a);
    return ok;
}

static bool any_modes_will_do(const struct gs_model *m)
{
    int modes[MAX_TASKS];
    const struct gs_assign_options o = {.verdict_only = true};
    struct gs_analyzer *a = gs_analyzer_new(m, GS_ANALYSIS_SAFE);
    const int verdict = gs_assign(a, GS_POLICY_GLOBAL, &o, modes);
    gs_analyzer_free(a);
    return verdict == 1;
}

/* Tries every order of the tasks from `placed` on. */
static bool any_order_will_do(const struct gs_model *m, int64_t *priorities, size_t placed)
{
    if (placed == m->n_tasks) {
        struct gs_model try;
        if (gs_model_copy(&try, m))
            abort();
        for (size_t i = 0; i < m->n_tasks; i++)
            try.tasks[i].priority = priorities[i];
        if (gs_model_finish(&try))
            abort();
        const bool does = any_modes_will_do(&try);
        gs_model_free(&try);
        return does;
    }
    for (size_t k = placed; k < m->n_tasks; k++) {
        const int64_t was = priorities[placed];
        priorities[placed] = priorities[k];
        priorities[k] = was;
        const bool does = any_order_will_do(m, priorities, placed + 1);
        priorities[k] = priorities[placed];
        priorities[placed] = was;
        if (does)
            return true;
    }
    return false;
}

static bool try_set(const struct gs_model *m)
{
    const struct gs_assign_options o = {0};
    int64_t priorities[MAX_TASKS];
    struct gs_model with;
    if (gs_model_copy(&with, m) || gs_model_finish(&with))
        abort();
    const bool already = any_modes_will_do(m);
    const int rc = gs_find_priorities(&with, GS_ANALYSIS_SAFE, GS_POLICY_GLOBAL, &o);
    bool ok = rc == 1 ? holds(&with) : rc == 0 && !already;
    for (size_t i = 0; i < m->n_tasks && rc == 0; i++)
        ok = ok && strcmp(with.tasks[i].name, m->tasks[i].name) == 0 && with.tasks[i].fixed_mode == 0;
    as_they_are += already;
    found += rc == 1 && !already;
    for (size_t i = 0; i < m->n_tasks; i++)
        priorities[i] = (int64_t)i;
    if (!already && m->n_tasks <= 4 && any_order_will_do(m, priorities, 0)) {
        exist++;
        missed += rc == 0;
    }
    if (!ok) {
        printf("find_priorities says %d of:\n", rc);
        print_set(m, NULL);
    }
    gs_model_free(&with);
    return ok;
}

int main(int argc, char **argv)
{
    rng = seed_from(argc, argv, 5);
    const long sets = argc > 2 ? atol(argv[2]) : 6000;
    for (long k = 0; k < sets; k++) {
        const struct set_shape shape = {3 + rnd(&rng, MAX_TASKS - 2),
                                        1 + rnd(&rng, 4),
                                        1 + rnd(&rng, 12),
                                        10 + rnd(&rng, 60),
                                        1 + rnd(&rng, 3),
                                        rnd(&rng, 2),
                                        rnd(&rng, 2),
                                        rnd(&rng, 3) == 0};
        struct gs_model m = random_set(&rng, &shape);
        if (rnd(&rng, 3) == 0)
            make_chunked(&rng, &m);
        const bool ok = try_set(&m);
        gs_model_free(&m);
        if (!ok) {
            printf("set %ld\n", k);
            return 1;
        }
    }
    printf("%ld sets: %ld with the priorities that they have, %ld with others (%" PRIu64
           " jobs); of %ld of at most four tasks for which there are others, %ld were missed\n",
           sets, as_they_are, found, jobs, exist, missed);
    return !exist || missed > exist / 3;
}
