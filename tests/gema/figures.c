/* SPDX-License-Identifier: MIT */
/* Figures 1 and 11 of the GPU-SPARC paper as schedules; task sets there and back as JSON and as config files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "gema/analysis.h"
#include "gema/model_io.h"
#include "gema/timeline.h"
#include "tests/gema/sets.h"

/* When the only job of each task ends, all released at 0. Priorities in the order of the text: the first is highest. */
static void run_jobs(const char *text, const int *modes, int64_t *ends)
{
    struct gs_model m = set_from(text);
    struct gs_sim *s = gs_sim_new(&m);
    struct gs_sim_setup setup = {.modes = modes, .horizon = 1};
    const struct gs_sim_task *t = gs_sim_run(s, &setup);
    for (size_t i = 0; i < m.n_tasks; i++) {
        assert_int_equal(t[i].jobs, 1);
        ends[i] = t[i].response;
    }
    gs_sim_free(s);
    gs_model_free(&m);
}

static void figure_1(void **state)
{
    /* J1, J2: 7 units by 10; J3: 26 units by 30. Priorities are given in the order that `order` says. */
    static const int orders[6][3] = {{3, 2, 1}, {2, 3, 1}, {3, 1, 2}, {2, 1, 3}, {1, 3, 2}, {1, 2, 3}};
    for (int k = 0; k < 6; k++) {
        char text[800];
        const int *p = orders[k];
        int64_t ends[3], deadlines[3] = {10, 10, 30};
        int single[3] = {1, 1, 1}, which[3];
        snprintf(text, sizeof text,
                 "[system]\ngpus=2\ncpus=1\npreemptive=none\n"
                 "[task J1]\nperiod=1s\npriority=%d\nsegments.1=gpu 7ns\nsegments.2=gpu 4ns\n"
                 "[task J2]\nperiod=1s\npriority=%d\nsegments.1=gpu 7ns\nsegments.2=gpu 4ns\n"
                 "[task J3]\nperiod=1s\npriority=%d\nsegments.1=gpu 26ns\nsegments.2=gpu 13ns\n",
                 p[0], p[1], p[2]);
        for (int i = 0; i < 3; i++)
            which[3 - p[i]] = i;
        run_jobs(text, single, ends);
        bool missed = false;
        for (int i = 0; i < 3; i++)
            missed = missed || ends[i] > deadlines[which[i]];
        assert_true(missed); /* no order does with one GPU each: the paper's point */
        if (k == 0) {
            assert_int_equal(ends[2], 33); /* (a) */
            run_jobs(text, (int[]){1, 1, 2}, ends);
            assert_int_equal(ends[0], 7); /* (b) */
            assert_int_equal(ends[1], 7);
            assert_int_equal(ends[2], 20);
        }
    }
}

static void figure_11(void **state)
{
    static const char text[] = "[system]\ngpus=2\ncpus=1\npreemptive=none\n"
                               "[task J1]\nperiod=100ns\ndeadline=13ns\nsegments.1=pci 1ns, gpu 10ns, pci 1ns\n"
                               "segments.2=pci 2ns, gpu 5ns, pci 2ns, cpu 4ns\n"
                               "[task J2]\nperiod=100ns\ndeadline=24ns\nsegments.1=pci 2ns, gpu 22ns, pci 1ns\n"
                               "segments.2=pci 4ns, gpu 11ns, pci 2ns, cpu 4ns\n";
    int64_t ends[2];
    run_jobs(text, (int[]){1, 1}, ends); /* (a) */
    assert_int_equal(ends[0], 12);
    assert_int_equal(ends[1], 26);
    run_jobs(text, (int[]){1, 2}, ends); /* (b) */
    assert_int_equal(ends[0], 12);
    assert_true(ends[1] > 24);
    run_jobs(text, (int[]){2, 2}, ends); /* (c): J2's merge may take 4 */
    assert_int_equal(ends[0], 13);
    assert_int_equal(ends[1], 24);
    /* The schedule is right; the paper's own analysis, which has to allow for other releases, rejects it. */
    struct gs_model m = set_from(text);
    for (int k = 0; k < GS_ANALYSES; k++) {
        struct gs_analyzer *a = gs_analyzer_new(&m, (enum gs_analysis)k);
        assert_false(gs_schedulable(a, (int[]){2, 2}));
        gs_analyzer_free(a);
    }
    gs_model_free(&m);
}

static void same_model(const struct gs_model *a, const struct gs_model *b)
{
    json_t *x = gs_model_to_json(a), *y = gs_model_to_json(b);
    /* A config file numbers the priorities anew, in the same order. */
    for (size_t i = 0; i < a->n_tasks; i++) {
        json_object_del(json_array_get(json_object_get(x, "tasks"), i), "priority");
        json_object_del(json_array_get(json_object_get(y, "tasks"), i), "priority");
    }
    assert_true(json_equal(x, y));
    assert_memory_equal(a->patience_ns, b->patience_ns, sizeof a->patience_ns);
    json_decref(x);
    json_decref(y);
}

/* Chunks of the system's, of some tasks, or both. */
static void give_chunks(struct rng *r, struct gs_model *m)
{
    m->pieces = GS_PIECES_OWN;
    m->preemptive[GS_PCI] = m->preemptive[GS_GPU] = false;
    m->depth = 1 + (int)rnd(r, 4);
    m->handover_ns = 1 + rnd(r, 100000);
    for (int k = GS_PCI; k <= GS_GPU; k++) {
        m->chunk_ns[k] = rnd(r, 2) ? 1 + rnd(r, 5000000) : 0;
        m->chunked[k] = m->chunk_ns[k] > 0;
        for (size_t i = 0; i < m->n_tasks; i++) {
            m->tasks[i].chunk_ns[k] = rnd(r, 2) ? 1 + rnd(r, 5000000) : m->chunk_ns[k];
            m->chunked[k] = m->chunked[k] || m->tasks[i].chunk_ns[k];
        }
    }
    gs_model_set_liars(m, m->chunk_ns[GS_PCI] && m->chunk_ns[GS_GPU] ? (int)rnd(r, 4) - 1 : GS_LIARS_NO);
    assert_int_equal(gs_model_finish(m), 0);
}

static void there_and_back(void **state)
{
    struct rng r = *(struct rng *)*state;
    for (int k = 0; k < 200; k++) {
        struct set_shape shape = {4, 4, 1000000, 100000000, 3, true, false, false};
        struct gs_model m = random_set(&r, &shape), back;
        if (k % 3 == 0)
            give_chunks(&r, &m);
        struct gs_mistakes mistakes = {0};
        struct gs_config config;
        json_t *json = gs_model_to_json(&m);
        assert_int_equal(gs_model_from_json(&back, json, &mistakes), 0);
        same_model(&m, &back);
        gs_model_free(&back);
        json_decref(json);

        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        assert_int_equal(gs_model_write_config(&m, out), 0);
        fclose(out);
        int rc = gs_config_parse(text, length, &config, &mistakes);
        gs_mistakes_print(&mistakes, "written");
        assert_int_equal(rc, 0);
        assert_int_equal(gs_model_from_config(&back, &config, &mistakes), 0);
        same_model(&m, &back);
        gs_model_free(&back);
        gs_config_free(&config);
        free(text);
        gs_model_free(&m);
    }
}

static void bad_json_is_refused_whole(void **state)
{
    static const char bad[] = "{\"system\": {\"cpus\": 0, \"gpus\": 2, \"preemptive\": [\"disk\"], \"pieces\": 7}, "
                              "\"tasks\": [{\"name\": \"a\"},"
                              "{\"name\": \"b\", \"period_ns\": 5, \"deadline_ns\": 6},"
                              "{\"name\": \"c\", \"period_ns\": 5, \"mode\": \"many\", \"segments\": {\"3\": [], "
                              "\"1\": [{\"resource\": \"cpu\"}]}}]}";
    json_t *json = json_loads(bad, 0, NULL);
    struct gs_model m;
    struct gs_mistakes mistakes = {0};
    assert_non_null(json);
    assert_int_equal(gs_model_from_json(&m, json, &mistakes), -EINVAL);
    if (mistakes.n != 9)
        gs_mistakes_print(&mistakes, "found");
    assert_int_equal(mistakes.n, 9);
    gs_mistakes_free(&mistakes);
    gs_model_free(&m);
    json_decref(json);
}

static void too_long_times_are_refused(void **state)
{
    struct gs_model m;
    struct gs_segment s[200];
    for (int j = 0; j < 200; j++)
        s[j] = (struct gs_segment){.resource = GS_CPU, .worst_ns = 1};
    gs_model_init(&m, 1, 1, 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(gs_model_add_task(&m, "t", GS_CONFIG_MAX_NS, GS_CONFIG_MAX_NS), i);
        assert_int_equal(gs_model_set_chain(&m, (size_t)i, 1, s, 200), 0);
    }
    assert_int_equal(gs_model_finish(&m), -EOVERFLOW);
    gs_model_free(&m);
    gs_model_init(&m, 1, 1, 1);
    assert_int_equal(gs_model_add_task(&m, "t", 10, 11), 0);
    assert_int_equal(gs_model_set_chain(&m, 0, 1, s, 1), 0);
    assert_int_equal(gs_model_finish(&m), -EINVAL);
    gs_model_free(&m);
}

/* In every simulated schedule a server has one piece at a time, and each piece gets what it needs. */
static void schedules_are_schedules(void **state)
{
    struct rng r = *(struct rng *)*state;
    for (int k = 0; k < 300; k++) {
        struct set_shape shape = {5, 4, 6, 40, 3, false, k % 2 == 0, false};
        struct gs_model m = random_set(&r, &shape);
        int modes[8];
        struct gs_timeline t;
        int64_t work = 0, done = 0;
        random_modes(&r, &m, modes);
        assert_int_equal(
            gs_timeline_run(&t, &m, &(struct gs_timeline_setup){.modes = modes, .horizon = 120, .most = 1000}), 0);
        for (size_t i = 0; i < t.n_jobs; i++) {
            const struct gs_chain *c = &m.tasks[t.jobs[i].task].chains[modes[t.jobs[i].task]];
            for (size_t j = 0; j < c->n; j++)
                work += c->segments[j].worst_ns * (c->segments[j].resource == GS_GPU ? modes[t.jobs[i].task] : 1);
        }
        for (size_t i = 0; i < t.n_slices; i++) {
            const struct gs_sim_slice *a = &t.slices[i];
            done += a->end - a->begin;
            for (size_t j = 0; j < i; j++) {
                const struct gs_sim_slice *b = &t.slices[j];
                bool same = a->resource == b->resource && a->server == b->server;
                assert_false(same && a->begin < b->end && b->begin < a->end);
            }
        }
        assert_int_equal(work, done);
        gs_timeline_free(&t);
        gs_model_free(&m);
    }
}

int main(int argc, char **argv)
{
    struct rng r = seed_from(argc, argv, 8);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_1),
        cmocka_unit_test(figure_11),
        cmocka_unit_test_prestate(there_and_back, &r),
        cmocka_unit_test(bad_json_is_refused_whole),
        cmocka_unit_test(too_long_times_are_refused),
        cmocka_unit_test_prestate(schedules_are_schedules, &r),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
