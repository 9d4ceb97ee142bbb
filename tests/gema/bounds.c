/* SPDX-License-Identifier: MIT */
/* Figures that follow from docs/analysis.md by hand: what hand-overs and chunks add, which bounds are proven, who is
 * the more urgent where the config gives no priorities; what one liar costs a job; and that GEMA's answer is its best
 * where no choice is schedulable. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "gema/assign.h"
#include "gema/sim.h"
#include "tests/gema/sets.h"

static struct rng rng;

/* The response time of the last task, all on one GPU. */
static int64_t last_response(const char *text)
{
    struct gs_model m = set_from(text);
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    int modes[] = {1, 1, 1, 1};
    const int64_t r = gs_analyze(a, modes)->tasks[m.n_tasks - 1].response_ns;
    gs_analyzer_free(a);
    gs_model_free(&m);
    return r;
}

/* Theorem 8: C and a hand-over, two for tasks below; applications without a task have `depth` chunks and a hand-over
 * granted, all but one unit of which is left. With depth 1 there is a hand-over before each chunk, of which there may
 * be as many as the segment says. */
static void handovers_count(void **state)
{
#define ONE(depth) "[system]\ncpus=1\ngpus=1\ngpu_chunk=10ns\nhandover=3ns\ndepth=" #depth "\n"
#define TASK "[task a]\nperiod=1us\nsegments.1=gpu 100ns..100ns\n"
    assert_int_equal(last_response(ONE(2) TASK), 100 + 3 + (2 * 10 + 3 - 1));
    assert_int_equal(last_response(ONE(1) TASK), 100 + 10 * 3 + (10 + 3 - 1));
    assert_int_equal(last_response(ONE(1) "[task a]\nperiod=1us\nsegments.1=gpu 100ns..100ns pauses 2 5ns chunks 15\n"),
                     100 + 15 * 3 + 5 + 3 * (10 + 3 - 1));
    /* A lower task has two chunks granted as well, of its own length. */
    assert_int_equal(last_response("[system]\ncpus=1\ngpus=1\nhandover=3ns\ndepth=2\n" /* */
                                   "[task low]\nperiod=1us\ngpu_chunk=20ns\nsegments.1=gpu 200ns..200ns\n"),
                     203);
    /* Chunks shorter than a hand-over: one for each two of them, and one back from the task above. */
#define SHORT "[system]\ncpus=1\ngpus=1\ngpu_chunk=2ns\nhandover=3ns\ndepth=2\n"
#define MANY "[task many]\nperiod=1us\nsegments.1=gpu 100ns..100ns chunks 61\n"
    assert_int_equal(last_response(SHORT MANY), 100 + 31 * 3 + (2 * 2 + 3 - 1));
    assert_int_equal(
        last_response(SHORT "[task high]\nperiod=900ns\nsegments.1=gpu 9ns..9ns pauses 1 5ns chunks 6\n" MANY),
        100 + 31 * 3 + (2 * 2 + 3 - 1) + 9 + (4 + 2) * 3);
    /* With one of several GPUs a job asks which one, and begins so much later: two of the task
     * above may be less than its period apart. */
#define TWO "[system]\ncpus=1\ngpus=2\ngpu_chunk=10ns\nhandover=3ns\ndepth=2\n"
    assert_int_equal(last_response(TWO TASK), 3 + 100 + 3 + (2 * 10 + 3 - 1));
    assert_int_equal(last_response(TWO "[task high]\nperiod=145ns\nsegments.1=gpu 10ns..10ns\n" TASK),
                     3 + 103 + 16 + (2 * 10 + 3 - 1));
    assert_int_equal(last_response(TWO "[task high]\nperiod=142ns\nsegments.1=gpu 10ns..10ns\n" TASK),
                     3 + 103 + 2 * 16 + (2 * 10 + 3 - 1));
}

static int64_t keep_once(void *context, size_t task, enum gs_resource resource, int64_t now, int64_t waited)
{
    return task == 2 && waited && now < 20000000 ? 50000000 : 0;
}

/* Theorem 10: an application's two chunks of 5 ms and 50 ms of patience, which all segments of a job have together. */
static void one_liar_counts_once(void **state)
{
#define SYSTEM "[system]\ncpus=1\ngpus=1\ngpu_chunk=5ms\npci_chunk=1ms\nhandover=1ns\nliars="
#define HIGH "\n[task high]\npriority=2\nperiod=90ms\nsegments.1=gpu 20ms..20ms\n"
#define LOW "[task low]\npriority=1\nperiod=300ms\nsegments.1=pci 1ms..1ms, gpu 20ms..20ms\n"
#define FOUR "\n[task a]\nperiod=1s\nsegments.1=gpu 20ms, cpu 1ns, gpu 20ms, cpu 1ns, gpu 20ms, cpu 1ns, gpu 20ms\n"
    /* 11 ms for each, and 60 in all; or 60 for each. */
    assert_int_equal(last_response(SYSTEM "1" FOUR) / 1000000, 80 + 4 * 11 + 60);
    assert_int_equal(last_response(SYSTEM "yes" FOUR) / 1000000, 80 + 4 * 60);
    /* With it two jobs of the task above come before it, without it one: 53 ms more would be too little. */
    assert_int_equal(last_response(SYSTEM "no" HIGH LOW) / 1000000, 1 + 2 + 20 + 10 + 20);
    assert_int_equal(last_response(SYSTEM "1" HIGH LOW) / 1000000, 1 + 3 + 20 + 11 + 2 * 20 + 53);
    struct gs_model m =
        set_from(SYSTEM "1" HIGH LOW "[task liar]\npriority=0\nperiod=900ms\nsegments.1=gpu 10ms..10ms\n");
    struct gs_sim *s = gs_sim_new(&m);
    const struct gs_sim_setup setup = {
        .modes = (int[]){1, 1, 1}, .offsets = (int64_t[]){1, 1, 0}, .horizon = 300000000, .keep = keep_once};
    assert_int_equal(gs_sim_run(s, &setup)[1].response / 1000000, 60 + 2 * 20 + 20);
    gs_sim_free(s);
    gs_model_free(&m);
}

static void what_is_late_is_not_proven(void **state)
{
    struct gs_model m = set_from("[system]\ncpus=1\ngpus=1\n[task a]\nperiod=10ns\nsegments.1=gpu 6ns..6ns\n"
                                 "[task b]\nperiod=12ns\nsegments.1=gpu 8ns..8ns\n"
                                 "[task c]\nperiod=1000ns\nsegments.1=cpu 1ns..1ns\n");
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    int modes[] = {1, 1, 1};
    const struct gs_result *r = gs_analyze(a, modes);
    assert_true(r->tasks[0].proven || r->tasks[0].response_ns > 10); /* b may hold the GPU */
    assert_false(r->tasks[1].proven);
    assert_false(r->tasks[2].proven); /* it stands on b's bound */
    assert_false(r->schedulable);
    gs_analyzer_free(a);
    gs_model_free(&m);
}

static void the_shorter_deadline_is_more_urgent(void **state)
{
    struct gs_model m = set_from("[system]\ncpus=1\ngpus=1\n"
                                 "[task often]\nperiod=20ns\ndeadline=15ns\nsegments.1=gpu 1ns..1ns\n"
                                 "[task soon]\nperiod=30ns\ndeadline=10ns\nsegments.1=gpu 1ns..1ns\n");
    assert_string_equal(m.tasks[0].name, "soon");
    gs_model_free(&m);
}

static void gema_answers_with_its_best(void **state)
{
    const struct set_shape shape = {
        .max_tasks = 5, .max_segments = 3, .max_time = 8, .max_period = 30, .max_servers = 3};
    const struct gs_assign_options options = {0};
    unsigned better = 0, late = 0;
    for (int i = 0; i < 3000; i++) {
        struct gs_model m = random_set(&rng, &shape);
        struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        int first[8], modes[8];
        uint64_t open[8] = {0};
        for (size_t t = 0; t < m.n_tasks; t++)
            for (int g = 1; g <= m.servers[GS_GPU]; g++)
                open[t] |= (uint64_t)gs_model_may_use(&m, t, g) << (g - 1);
        if (gs_assign(a, GS_POLICY_SINGLE, &options, first) == 0 &&
            gs_assign(a, GS_POLICY_GEMA, &options, modes) == 0) {
            const double before = gs_worst_ratio(a, first, 1e300), after = gs_worst_ratio(a, modes, 1e300);
            late++;
            assert_true(after <= before * 1.0001);
            better += gs_prune_modes(a, open) && after < before * 0.999; /* else it goes downhill */
        }
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    print_message(
        "%u sets that no choice on the way makes schedulable, %u of them better on the way than all on one GPU\n", late,
        better);
    assert_true(late > 100 && better > 10);
}

static void set_one(struct gs_model *m, int task, int gpus, struct gs_segment s)
{
    assert_int_equal(gs_model_set_chain(m, (size_t)task, gpus, &s, 1), 0);
}

/* Where a task pauses beside liars R falls from 64 to 63 as a piece below grows from 2 to 13: with that one all
 * deadlines are met, and pruning leaves it. */
static void pruning_leaves_what_is_schedulable(void **state)
{
    enum { ABOVE, PAUSES, BELOW };
    struct gs_model m;
    gs_model_init(&m, 1, 1, 2);
    m.handover_ns = 0;
    m.chunked[GS_GPU] = true;
    m.chunk_ns[GS_GPU] = 1;
    m.patience_ns[GS_GPU] = 10;
    m.liars = 1;
    const int period[] = {24, 115, 100000};
    for (int i = 0; i < 3; i++)
        assert_int_equal(gs_model_add_task(&m, (const char *[]){"high", "pausing", "low"}[i], period[i], period[i]), i);
    const struct gs_segment high[] = {{.resource = GS_CPU, .worst_ns = 1}, {.resource = GS_GPU, .worst_ns = 4}};
    assert_int_equal(gs_model_set_chain(&m, ABOVE, 1, high, 2), 0);
    set_one(&m, PAUSES, 1, (struct gs_segment){.resource = GS_GPU, .best_ns = 3, .worst_ns = 3, .pauses = 3});
    set_one(&m, BELOW, 1, (struct gs_segment){.resource = GS_GPU, .worst_ns = 2});
    set_one(&m, BELOW, 2, (struct gs_segment){.resource = GS_GPU, .worst_ns = 13});
    for (int i = 0; i < 3; i++) {
        m.tasks[i].fixed_mode = i < BELOW;
        m.tasks[i].excess_ns = 39;
        m.tasks[i].chunk_ns[GS_GPU] = i < BELOW;
    }
    m.tasks[PAUSES].deadline_ns = 63;
    assert_int_equal(gs_model_finish(&m), 0);
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    assert_non_null(a);
    assert_false(gs_schedulable(a, (int[]){1, 1, 1}));
    assert_true(gs_schedulable(a, (int[]){1, 1, 2}));
    uint64_t sets[] = {1, 1, 3};
    assert_true(gs_prune_modes(a, sets));
    assert_true(sets[BELOW] & 2);
    gs_analyzer_free(a);
    gs_model_free(&m);
}

int main(int argc, char **argv)
{
    rng = seed_from(argc, argv, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handovers_count),
        cmocka_unit_test(one_liar_counts_once),
        cmocka_unit_test(pruning_leaves_what_is_schedulable),
        cmocka_unit_test(what_is_late_is_not_proven),
        cmocka_unit_test(the_shorter_deadline_is_more_urgent),
        cmocka_unit_test(gema_answers_with_its_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
