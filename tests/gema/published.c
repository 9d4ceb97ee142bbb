/* SPDX-License-Identifier: MIT */
/* The published formula (GPU-SPARC section IV-B) gives exactly these figures, simulation exceeds them, and `safe`
 * holds. Each set is a smallest one that shows one cause; docs/analysis.md, "The published formula". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "gema/analysis.h"
#include "gema/sim.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 4 };

struct counter_example {
    const char *name, *set;
    int modes[MAX_TASKS];
    int64_t paper[MAX_TASKS]; /* response times by the formula */
    size_t segment;           /* of the last task, whose response is too small; SIZE_MAX: the whole task's */
    int64_t formula;          /* its bound by the formula */
    int64_t observed;         /* the longest that simulation over all offsets finds, or more */
    bool varying;             /* only with times below the worst */
};

static const struct counter_example examples[] = {
    {"the floor averages over GPUs what a multi-GPU segment can't average",
     "[system]\ncpus=1\ngpus=2\npieces=any\n"
     "[task t0]\nperiod=4ns\nsegments.1=gpu 2ns..2ns\n"
     "[task t1]\nperiod=4ns\nsegments.1=gpu 2ns..2ns\nsegments.2=gpu 1ns..1ns\n"
     "[task t2]\nperiod=4ns\nsegments.1=gpu 4ns..4ns\nsegments.2=gpu 2ns..2ns\n",
     {1, 2, 2},
     {0, 0, 4},
     SIZE_MAX,
     4,
     5,
     false},
    {"no carry-in on several servers",
     "[system]\ncpus=2\ngpus=1\n"
     "[task t0]\nperiod=2ns\nsegments.1=cpu 1ns..1ns\n[task t1]\nperiod=3ns\nsegments.1=cpu 1ns..1ns\n"
     "[task t2]\nperiod=3ns\nsegments.1=cpu 2ns..2ns\n[task t3]\nperiod=3ns\nsegments.1=cpu 1ns..1ns\n",
     {1, 1, 1, 1},
     {1, 1, 3, 3},
     SIZE_MAX,
     3,
     4,
     false},
    {"a task's earlier segment pushes interference to a later one",
     "[system]\ncpus=1\ngpus=1\n"
     "[task t0]\nperiod=5ns\nsegments.1=pci 2ns..2ns\n[task t1]\nperiod=8ns\nsegments.1=pci 1ns..1ns\n"
     "[task t2]\nperiod=20ns\nsegments.1=pci 3ns..3ns, gpu 1ns..1ns, pci 1ns..1ns\n",
     {1, 1, 1},
     {0, 0, 0},
     2,
     4,
     5,
     false},
    {"jitter takes worst times for best ones",
     "[system]\ncpus=1\ngpus=1\n"
     "[task t0]\nperiod=13ns\nsegments.1=cpu 1ns..10ns, pci 1ns\n[task t1]\nperiod=14ns\nsegments.1=pci 2ns\n"
     "[task t2]\nperiod=15ns\nsegments.1=pci 2ns\n[task t3]\nperiod=16ns\nsegments.1=pci 1ns\n",
     {1, 1, 1, 1},
     {0, 0, 0, 6},
     SIZE_MAX,
     6,
     7,
     true},
    {"imperfect splits cost more than C^S",
     "[system]\ncpus=1\ngpus=2\npieces=any\n"
     "[task t0]\nperiod=2ns\nsegments.1=gpu 1ns..1ns\nsegments.2=gpu 1ns..1ns\n"
     "[task t1]\nperiod=4ns\nsegments.1=gpu 1ns..1ns\n",
     {2, 1},
     {0, 1},
     SIZE_MAX,
     1,
     2,
     false},
    {"a whole chain",
     "[system]\ncpus=2\ngpus=2\npieces=any\n"
     "[task t0]\nperiod=48ns\nsegments.1=cpu 1ns..1ns, pci 1ns..1ns, gpu 20ns..20ns, pci 1ns..1ns, cpu 1ns..1ns\n"
     "[task t1]\nperiod=57ns\nsegments.1=cpu 14ns..14ns, pci 2ns..2ns, gpu 40ns..40ns, pci 2ns..2ns, cpu 2ns..2ns\n"
     "segments.2=cpu 14ns..14ns, pci 2ns..2ns, gpu 20ns..20ns, pci 2ns..2ns, cpu 2ns..2ns\n",
     {1, 2},
     {48, 56},
     SIZE_MAX,
     56,
     59,
     false},
};

static struct rng rng;

static int64_t random_time(void *context, size_t task, uint64_t job, size_t segment, int piece)
{
    const struct counter_example *e = context;
    /* Only the first task's first segment varies, in the one example that needs it: short once, long else. */
    if (e->varying && task == 0 && segment == 0)
        return rnd(&rng, 2) ? 1 : 10;
    return -1;
}

struct varying {
    const struct counter_example *example;
    const struct gs_model *model;
    const int *modes;
};

static int64_t time_of(void *context, size_t task, uint64_t job, size_t segment, int piece)
{
    struct varying *v = context;
    int64_t t = random_time((void *)v->example, task, job, segment, piece);
    return t >= 0 ? t : v->model->tasks[task].chains[v->modes[task]].segments[segment].worst_ns;
}

static int64_t next_gap(void *context, size_t task, uint64_t job)
{
    const struct varying *v = context;
    /* The last task has one job: a second one might have to wait for the first. */
    if (task == v->model->n_tasks - 1)
        return 1000;
    return rnd(&rng, 3) ? 0 : rnd(&rng, 6);
}

/* The longest observed response of the last task (or its segment) over offsets, gaps and times. */
static int64_t observe(const struct counter_example *e, const struct gs_model *m)
{
    struct gs_sim *s = gs_sim_new(m);
    struct varying v = {e, m, e->modes};
    int64_t most = 0, offsets[MAX_TASKS] = {0};
    for (int run = 0; run < 20000; run++) {
        for (size_t i = 0; i < m->n_tasks; i++)
            offsets[i] = rnd(&rng, (unsigned)m->tasks[i].period_ns);
        struct gs_sim_setup setup = {.modes = e->modes,
                                     .offsets = offsets,
                                     .horizon = 8 * m->tasks[m->n_tasks - 1].period_ns,
                                     .context = &v,
                                     .time = time_of,
                                     .gap = next_gap};
        const struct gs_sim_task *t = &gs_sim_run(s, &setup)[m->n_tasks - 1];
        int64_t r = e->segment == SIZE_MAX ? t->response : t->segments[e->segment];
        most = r > most ? r : most;
    }
    gs_sim_free(s);
    return most;
}

static void formula_is_as_printed_and_not_safe(void **state)
{
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        const struct counter_example *e = &examples[k];
        struct gs_model m = set_from(e->set);
        struct gs_analyzer *paper = gs_analyzer_new(&m, GS_ANALYSIS_PAPER),
                           *safe = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        const struct gs_result *p = gs_analyze(paper, e->modes), *s = gs_analyze(safe, e->modes);
        size_t last = m.n_tasks - 1;
        int64_t observed = observe(e, &m);
        printf("%s: paper", e->name);
        for (size_t i = 0; i < m.n_tasks; i++)
            printf(" %" PRId64, p->tasks[i].response_ns);
        printf(", safe");
        for (size_t i = 0; i < m.n_tasks; i++)
            printf(" %" PRId64, s->tasks[i].response_ns);
        printf(", observed %" PRId64 "\n", observed);
        for (size_t i = 0; i < m.n_tasks; i++)
            if (e->paper[i])
                assert_int_equal(p->tasks[i].response_ns, e->paper[i]);
        int64_t formula =
            e->segment == SIZE_MAX ? p->tasks[last].response_ns : p->tasks[last].segments[e->segment].response_ns;
        int64_t bound =
            e->segment == SIZE_MAX ? s->tasks[last].response_ns : s->tasks[last].segments[e->segment].response_ns;
        assert_int_equal(formula, e->formula);
        assert_int_equal(observed, e->observed);
        assert_true(bound >= observed);
        gs_analyzer_free(paper);
        gs_analyzer_free(safe);
        gs_model_free(&m);
    }
}

int main(int argc, char **argv)
{
    rng = seed_from(argc, argv, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula_is_as_printed_and_not_safe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
