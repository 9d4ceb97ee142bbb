/* SPDX-License-Identifier: MIT */
/* What the daemon decides of a config, what `analyze` says of it, and what its simulation shows are one truth: to the
 * nanosecond, for one chunk at a time and for more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "gema/assign.h"
#include "gema/sim.h"
#include "scheduler/taskset.h"

enum { SETS = 300, MANY_SETS = 400, WOVEN_SETS = 60, RUNS = 6, MOST_TASKS = 32 };

static void load(const char *text, struct gs_config *config)
{
    struct gs_mistakes mistakes = {0};
    const int err = gs_config_parse(text, strlen(text), config, &mistakes);
    gs_mistakes_print(&mistakes, "set");
    assert_int_equal(err, 0);
    gs_mistakes_free(&mistakes);
}

/* A set as the three see it. */
struct trial {
    struct gs_config config;
    struct gs_member members[MOST_TASKS];
    struct gs_decision decision;
    struct gs_model model;
    struct gs_analyzer *analyzer;
    int modes[MOST_TASKS]; /* the decided ones, in the model's order */
};

/* The member of the model's task. */
static const struct gs_member *member_of(const struct trial *t, size_t task)
{
    for (size_t i = 0; i < t->config.n_tasks; i++)
        if (strcmp(t->members[i].task->name, t->model.tasks[task].name) == 0)
            return &t->members[i];
    abort();
}

static void begin(struct trial *t, const char *text)
{
    struct gs_mistakes mistakes = {0};
    memset(t, 0, sizeof *t);
    load(text, &t->config);
    const unsigned gpus = (unsigned)t->config.system.servers[GS_GPU];
    for (size_t i = 0; i < t->config.n_tasks; i++)
        t->members[i] = (struct gs_member){.task = &t->config.tasks[i], .gpus_max = gpus};
    assert_int_equal(gs_taskset_decide(&t->config, gpus, t->members, t->config.n_tasks, &t->decision), 0);
    assert_int_equal(gs_model_from_config(&t->model, &t->config, &mistakes), 0);
    assert_non_null(t->analyzer = gs_analyzer_new(&t->model, GS_ANALYSIS_SAFE));
}

static void end(struct trial *t)
{
    gs_analyzer_free(t->analyzer);
    gs_model_free(&t->model);
    gs_config_free(&t->config);
}

/* With the modes that the daemon chose the analysis says what the daemon does. Where `gema` or `gema+` finds modes, so
 * does the daemon: that is what analyze asks. */
static void agrees_with_analyze(struct trial *t)
{
    const struct gs_assign_options o = {0};
    int modes[MOST_TASKS];
    if (gs_assign(t->analyzer, GS_POLICY_GEMA, &o, modes) == 1 ||
        gs_assign(t->analyzer, GS_POLICY_GEMA_PLUS, &o, modes) == 1)
        assert_true(t->decision.schedulable);
    for (size_t i = 0; i < t->model.n_tasks; i++)
        t->modes[i] = (int)member_of(t, i)->gpus;
    const struct gs_result *r = gs_analyze(t->analyzer, t->modes);
    assert_int_equal(t->decision.schedulable, r->schedulable);
    for (size_t i = 0; i < t->model.n_tasks; i++) {
        assert_int_equal(member_of(t, i)->response_ns, r->tasks[i].response_ns);
        assert_int_equal(member_of(t, i)->meets_deadline, r->tasks[i].schedulable);
    }
}

/* The longest responses with these offsets, of chunks as long as they may be. */
static const struct gs_sim_task *simulate(struct trial *t, struct gs_sim *s, const int64_t *offsets)
{
    int64_t horizon = 0;
    for (size_t i = 0; i < t->model.n_tasks; i++)
        horizon = t->model.tasks[i].period_ns > horizon ? t->model.tasks[i].period_ns : horizon;
    const struct gs_sim_task *seen =
        gs_sim_run(s, &(struct gs_sim_setup){.modes = t->modes, .offsets = offsets, .horizon = 2 * horizon});
    assert_non_null(seen);
    return seen;
}

/* No job of a set that is schedulable takes longer than the daemon says. */
static void outlasts_simulation(struct trial *t)
{
    struct gs_sim *s = gs_sim_new(&t->model);
    assert_non_null(s);
    for (int run = 0; t->decision.schedulable && run < RUNS; run++) {
        int64_t offsets[MOST_TASKS];
        for (size_t i = 0; i < t->model.n_tasks; i++)
            offsets[i] = run ? rnd(20000000) : 0;
        const struct gs_sim_task *seen = simulate(t, s, offsets);
        for (size_t i = 0; i < t->model.n_tasks; i++)
            assert_true(seen[i].response <= member_of(t, i)->response_ns);
    }
    gs_sim_free(s);
}

static void append_chain(char *text, int gpus, unsigned depth, unsigned share_us)
{
    size_t at = strlen(text);
    const unsigned link_ns = 1000 + rnd(share_us * 150), gpu_ns = 1000 + rnd(share_us * 1000) / (unsigned)gpus;
    const unsigned more = depth == 1 ? 1 + rnd(3) : 0;
    at += (size_t)sprintf(text + at, "segments.%d = cpu %uns, pci %uns", gpus, 1000 + rnd(share_us * 100), link_ns);
    if (more)
        at += (size_t)sprintf(text + at, " chunks %u", link_ns / 500000 + more);
    at += (size_t)sprintf(text + at, ", gpu %uns", gpu_ns);
    if (more)
        at += (size_t)sprintf(text + at, " chunks %u", gpu_ns / 1000000 + more);
    sprintf(text + at, "\n");
}

static void make_set(char *text, unsigned depth)
{
    const unsigned n = 2 + rnd(5), gpus = 1 + rnd(2);
    sprintf(text,
            "[system]\ngpus = %u\ncpus = 2\ndepth = %u\nhandover = %uns\ngpu_chunk = %uns\npci_chunk = %uns\n"
            "liars = no\n",
            gpus, depth, 1 + rnd(200000), 1000000 + rnd(1500000), 500000 + rnd(500000));
    for (unsigned i = 0; i < n; i++) {
        const unsigned period_us = 20000 + rnd(280000), share_us = period_us / 100 * (10 + rnd(90)) / n * 2;
        sprintf(text + strlen(text), "[task t%u]\nperiod = %uns\n", i, period_us * 1000 + rnd(1000));
        for (int g = 1; g <= (int)gpus; g++)
            append_chain(text, g, depth, share_us);
    }
}

static void test_random_sets(void **state)
{
    size_t schedulable = 0;
    for (unsigned i = 0; i < SETS; i++) {
        char text[8192];
        struct trial t;
        make_set(text, 1 + i % 3);
        begin(&t, text);
        agrees_with_analyze(&t);
        outlasts_simulation(&t);
        schedulable += t.decision.schedulable;
        end(&t);
    }
    printf("%zu of %d sets are schedulable\n", schedulable, SETS);
    assert_in_range(schedulable, SETS / 5, SETS - SETS / 10);
}

/* A bound in coarser units than times are in came to 12.59 ms, and let this set pass; a job took 12.599 ms. */
static void test_one_chunk_too_many(void **state)
{
    struct trial t;
    begin(&t, "[system]\ngpus = 1\ncpus = 2\ndepth = 1\nhandover = 100us\ngpu_chunk = 2ms\npci_chunk = 1ms\n"
              "[task high]\nperiod = 100ms\ndeadline = 12595us\nsegments.1 = gpu 10ms chunks 5\n"
              "[task low]\nperiod = 1s\nsegments.1 = gpu 100ms chunks 50\n");
    agrees_with_analyze(&t);
    assert_false(t.decision.schedulable);
    assert_int_equal(t.members[0].response_ns, 12599999);
    struct gs_sim *s = gs_sim_new(&t.model);
    assert_non_null(s);
    /* `high` comes right after a chunk of `low` has begun. */
    const struct gs_sim_task *seen = simulate(&t, s, (int64_t[]){1, 0});
    assert_int_equal(seen[0].response, 12599999);
    assert_int_not_equal(seen[0].misses, 0);
    gs_sim_free(s);
    end(&t);
}

/* What rounding takes from each of many segments adds up: 37.8 ms where it is 39.6. */
static void test_many_segments(void **state)
{
    char text[8192] = "[system]\ngpus = 1\ncpus = 4\nhandover = 90us\ngpu_chunk = 900us\npci_chunk = 900us\n"
                      "[task high]\nperiod = 100ms\nsegments.1 = pci 900us, gpu 900us";
    struct trial t;
    for (int i = 1; i < 10; i++)
        strcat(text, ", pci 900us, gpu 900us");
    for (int i = 0; i < 20; i++)
        sprintf(text + strlen(text), "\n[task l%d]\nperiod = 1s\nsegments.1 = pci 900us, gpu 900us\n", i);
    begin(&t, text);
    agrees_with_analyze(&t);
    outlasts_simulation(&t);
    end(&t);
}

/* Some tasks need several of four GPUs, or nearly do. */
static void make_heavy_set(char *text, unsigned n)
{
    strcpy(text, "[system]\ngpus = 4\ncpus = 4\nhandover = 50us\ngpu_chunk = 1ms\npci_chunk = 1ms\nliars = no\n");
    for (unsigned i = 0; i < n; i++) {
        const unsigned period_us = 50000 + rnd(450000), percent = rnd(4) ? 1 + rnd(3) : 50 + rnd(60);
        sprintf(text + strlen(text), "[task t%u]\nperiod = %uus\n", i, period_us);
        for (unsigned g = 1; g <= 4; g *= 2)
            sprintf(text + strlen(text), "segments.%u = pci %uus, gpu %uus\n", g, 100 + g * period_us / 1000,
                    period_us / 100 * percent / g);
    }
}

/* Are the daemon's modes the policy's? */
static bool decided(const struct trial *t, const int *modes)
{
    bool same = true;
    for (size_t i = 0; i < t->model.n_tasks; i++)
        same = same && (int)member_of(t, i)->gpus == modes[i];
    return same;
}

/* Where one GPU each won't do, and GEMA and gema+ find modes, and others: up to 12 tasks get those of GEMA, more those
 * of gema+. */
static void test_who_is_asked_first(void **state)
{
    size_t differ[2] = {0};
    for (unsigned i = 0; i < MANY_SETS; i++) {
        const bool many = i % 2;
        char text[8192];
        int modes[GS_POLICIES][MOST_TASKS], found[GS_POLICIES];
        struct trial t;
        make_heavy_set(text, many ? 13 : 12);
        begin(&t, text);
        struct gs_analyzer *fast = gs_analyzer_new(&t.model, GS_ANALYSIS_SEGMENTS);
        assert_non_null(fast);
        for (int p = GS_POLICY_SINGLE; p <= GS_POLICY_GEMA_PLUS; p++)
            found[p] = gs_assign(p == GS_POLICY_SINGLE ? t.analyzer : fast, (enum gs_policy)p,
                                 &(struct gs_assign_options){0}, modes[p]);
        if (found[GS_POLICY_SINGLE] == 0 && found[GS_POLICY_GEMA] == 1 && found[GS_POLICY_GEMA_PLUS] == 1 &&
            memcmp(modes[GS_POLICY_GEMA], modes[GS_POLICY_GEMA_PLUS], t.model.n_tasks * sizeof **modes) != 0) {
            assert_true(decided(&t, modes[many ? GS_POLICY_GEMA_PLUS : GS_POLICY_GEMA]));
            differ[many]++;
        }
        gs_analyzer_free(fast);
        end(&t);
    }
    printf("GEMA and gema+ differ on %zu sets of 12 tasks and %zu of 13\n", differ[0], differ[1]);
    assert_true(differ[0] && differ[1]);
}

/* Two kernels a job, and so much link work that `segments` counts some of it twice. */
static void make_woven_set(char *text, unsigned n)
{
    strcpy(text, "[system]\ngpus = 4\ncpus = 4\nhandover = 50us\ngpu_chunk = 1ms\npci_chunk = 500us\nliars = no\n");
    for (unsigned i = 0; i < n; i++) {
        const unsigned period_us = 30000 + rnd(470000), gpu_us = period_us / 1000 * (1300 / n) * (20 + rnd(160)) / 200,
                       pci_us = gpu_us / 100 * (4 + rnd(16));
        sprintf(text + strlen(text), "[task t%u]\nperiod = %uus\n", i, period_us);
        for (unsigned g = 1; g <= 4; g *= 2) {
            const unsigned part_us = g == 1 ? gpu_us : g == 2 ? gpu_us / 100 * 55 : gpu_us / 100 * 30;
            sprintf(text + strlen(text), "segments.%u = pci %uus, gpu %uus, pci %uus, gpu %uus, pci %uus\n", g, pci_us,
                    part_us, pci_us, part_us, pci_us);
        }
    }
}

/* Of many tasks, too, the daemon finds modes where gema+ by `safe` does and by `segments` doesn't. */
static void test_fast_bounds_are_not_the_last_word(void **state)
{
    size_t by_safe = 0;
    for (unsigned i = 0; i < WOVEN_SETS; i++) {
        char text[16384];
        int modes[MOST_TASKS];
        struct trial t;
        make_woven_set(text, i % 2 ? 12 : 24);
        begin(&t, text);
        agrees_with_analyze(&t);
        struct gs_analyzer *fast = gs_analyzer_new(&t.model, GS_ANALYSIS_SEGMENTS);
        assert_non_null(fast);
        by_safe +=
            t.decision.schedulable && gs_assign(fast, GS_POLICY_GEMA_PLUS, &(struct gs_assign_options){0}, modes) == 0;
        gs_analyzer_free(fast);
        end(&t);
    }
    printf("%zu of %d sets are schedulable by safe only\n", by_safe, WOVEN_SETS);
    assert_true(by_safe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_one_chunk_too_many),
        cmocka_unit_test(test_many_segments),
        cmocka_unit_test(test_who_is_asked_first),
        cmocka_unit_test(test_fast_bounds_are_not_the_last_word),
    };
    seed_run(0, NULL, 43);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
