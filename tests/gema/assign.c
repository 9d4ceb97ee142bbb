/* SPDX-License-Identifier: MIT */
/* `global` is schedulable exactly where bare enumeration finds a choice; no policy beats it; gema+ gives several GPUs
 * to fewer tasks than local; what an analyzer keeps from one question to the next changes no answer. Arguments: seed,
 * number of sets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/assign.h"
#include "gema/generate.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 8 };

static uint64_t checks, schedulable_sets, gaps[GS_POLICIES];
static uint64_t multi[GS_POLICIES]; /* tasks with more than one GPU, where local's modes do and single's don't */

static bool allowed(const struct gs_model *m, size_t i, int g, bool two)
{
    int gpus = m->servers[GS_GPU];
    if (!gs_model_may_use(m, i, g))
        return false;
    bool ends = gs_model_may_use(m, i, 1) || gs_model_may_use(m, i, gpus);
    return !two || !ends || g == 1 || g == gpus;
}

/* Tries every choice, each from nothing. */
static bool enumerate(const struct gs_model *m, struct gs_analyzer *a, bool two, size_t i, int *modes)
{
    if (i == m->n_tasks) {
        gs_analyzer_forget(a);
        return gs_analyze(a, modes)->schedulable;
    }
    for (int g = 1; g <= m->servers[GS_GPU]; g++) {
        modes[i] = g;
        if (allowed(m, i, g, two) && enumerate(m, a, two, i + 1, modes))
            return true;
    }
    return false;
}

/* Two analyzers, one of which has answered other questions before, must say the same. */
static bool same_answers(struct gs_analyzer *used, struct gs_analyzer *fresh, const struct gs_model *m,
                         const int *modes)
{
    gs_analyzer_forget(fresh);
    const struct gs_result *a = gs_analyze(used, modes), *b = gs_analyze(fresh, modes);
    bool same = a->schedulable == b->schedulable;
    for (size_t i = 0; i < m->n_tasks; i++)
        same = same && a->tasks[i].response_ns == b->tasks[i].response_ns && a->tasks[i].proven == b->tasks[i].proven;
    if (!same || gs_schedulable(used, modes) != b->schedulable)
        return false;
    /* Up to a limit: which task decided earlier questions may cut the answer short, but not change it. */
    gs_analyzer_forget(used); /* what gs_analyze found is not cut off as early */
    gs_analyzer_forget(fresh);
    const double exact = gs_worst_ratio(fresh, modes, 1e300);
    for (int k = 8; k <= 12; k++) {
        const double limit = exact * k / 10, ratio = gs_worst_ratio(used, modes, limit);
        if (exact < limit ? ratio != exact : ratio < limit)
            return false;
    }
    return true;
}

static bool check(const struct gs_model *m, enum gs_analysis analysis, bool two)
{
    struct gs_analyzer *a = gs_analyzer_new(m, analysis), *fresh = gs_analyzer_new(m, analysis);
    struct gs_assign_options o = {.two_modes = two};
    int modes[MAX_TASKS], verdict[MAX_TASKS];
    bool best = enumerate(m, fresh, two, 0, modes), ok = true, found[GS_POLICIES] = {false};
    uint64_t several[GS_POLICIES] = {0};
    schedulable_sets += best;
    for (int p = 0; p < GS_POLICIES && ok; p++) {
        int rc = gs_assign(a, (enum gs_policy)p, &o, modes);
        o.verdict_only = true;
        ok = rc == 0 || rc == 1;
        ok = ok && gs_assign(fresh, (enum gs_policy)p, &o, verdict) == rc;
        o.verdict_only = false;
        for (size_t i = 0; i < m->n_tasks; i++)
            ok = ok && allowed(m, i, modes[i], two);
        ok = ok && same_answers(a, fresh, m, modes) && gs_analyze(fresh, modes)->schedulable == (rc == 1);
        ok = ok && (p == GS_POLICY_GLOBAL ? rc == best : rc <= best);
        gaps[p] += best && !rc;
        found[p] = rc == 1;
        for (size_t i = 0; i < m->n_tasks; i++)
            several[p] += modes[i] > 1;
        checks++;
        if (!ok)
            printf("%s: %d, enumeration: %d (%s, %s)\n", gs_policy_names[p], rc, best, gs_analysis_names[analysis],
                   two ? "two modes" : "all modes");
    }
    for (int p = 0; p < GS_POLICIES && found[GS_POLICY_LOCAL] && !found[GS_POLICY_SINGLE]; p++)
        multi[p] += several[p];
    gs_analyzer_free(a);
    gs_analyzer_free(fresh);
    if (!ok)
        print_set(m, NULL);
    return ok;
}

/* A few tasks of the paper's kind, so that modes matter. */
static struct gs_model generated(struct rng *r)
{
    struct gs_generator g;
    struct gs_random random;
    struct gs_model m;
    gs_generator_default(&g);
    g.gpus = 2 + (int)rnd(r, 2);
    g.pieces = (enum gs_pieces)rnd(r, 3);
    g.dependent = 0.3;
    g.best = rnd(r, 2) ? 1 : 0.5;
    gs_random_seed(&random, r->state, 0);
    gs_generate_begin(&g, &m);
    unsigned n = 2 + rnd(r, 4);
    for (unsigned i = 0; i < n; i++)
        if (gs_generate_task(&g, &random, &m))
            abort();
    rnd(r, 2);
    if (gs_model_finish(&m))
        abort();
    return m;
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 5);
    long sets = argc > 2 ? atol(argv[2]) : 3000;
    for (long k = 0; k < sets; k++) {
        struct set_shape shape = {2 + rnd(&rng, 4),
                                  1 + rnd(&rng, 4),
                                  1 + rnd(&rng, 8),
                                  6 + rnd(&rng, 30),
                                  1 + rnd(&rng, 3),
                                  rnd(&rng, 2),
                                  false,
                                  rnd(&rng, 3) == 0};
        struct gs_model m = rnd(&rng, 2) ? random_set(&rng, &shape) : generated(&rng);
        bool ok = true;
        if (rnd(&rng, 4) == 0)
            make_chunked(&rng, &m);
        if (rnd(&rng, 2))
            make_liars(&rng, &m);
        if (rnd(&rng, 4) == 0)
            m.tasks[0].fixed_mode = gs_model_may_use(&m, 0, 1) ? 1 : 0;
        for (int n = 0; n < GS_ANALYSES; n++)
            ok = ok && check(&m, (enum gs_analysis)n, true) && check(&m, (enum gs_analysis)n, false);
        gs_model_free(&m);
        if (!ok) {
            printf("set %ld\n", k);
            return 1;
        }
    }
    printf("%" PRIu64 " assignments checked, %" PRIu64 " questions with a schedulable choice; missed by", checks,
           schedulable_sets);
    for (int p = 0; p < GS_POLICIES; p++)
        printf(" %s %" PRIu64, gs_policy_names[p], gaps[p]);
    printf("\nwhere local finds modes and single doesn't %" PRIu64 " tasks have several GPUs by local, %" PRIu64
           " by gema+\n",
           multi[GS_POLICY_LOCAL], multi[GS_POLICY_GEMA_PLUS]);
    return schedulable_sets == 0 || gaps[GS_POLICY_SINGLE] == 0 ||
           10 * multi[GS_POLICY_GEMA_PLUS] >= 9 * multi[GS_POLICY_LOCAL];
}
