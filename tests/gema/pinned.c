/* SPDX-License-Identifier: MIT */
/* Pinned tasks with one GPU: the printed example of GCAPS, figures by hand for the other published analyses, and
 * theorem 11's bounds against two simulators. Arguments: seed, number of random sets. */
#include "gema/pinned.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/sim.h"

static const int64_t ms = 1000000;

static int wrong;

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    printf("not so: %s\n", what);
    wrong++;
}

/* Table 2 of the paper, whose third task is on the second CPU. */
static struct gs_pinned_set table_2(void)
{
    return (struct gs_pinned_set){
        .cpus = 2,
        .n = 4,
        .tasks = {
            {.cpu_id = 0,
             .period_ns = 80 * ms,
             .n = 2,
             .cpu = {2 * ms, 4 * ms, 3 * ms},
             .misc = {2 * ms, 2 * ms},
             .pure = {4 * ms, 2 * ms}},
            {.cpu_id = 0, .period_ns = 150 * ms, .cpu = {40 * ms}},
            {.cpu_id = 1, .period_ns = 190 * ms, .n = 1, .cpu = {4 * ms, 30 * ms}, .misc = {5 * ms}, .pure = {80 * ms}},
            {.cpu_id = 0,
             .period_ns = 200 * ms,
             .n = 1,
             .cpu = {16 * ms, 2 * ms},
             .misc = {2 * ms},
             .pure = {10 * ms}}}};
}

/* "RT test failed", and passed with the priorities of the third and the fourth task exchanged on the GPU. */
static void gcaps_example(void)
{
    const struct gs_pinned_set set = table_2();
    const int exchanged[] = {0, 1, 3, 2};
    int64_t response[4];
    struct gs_pinned_costs costs;
    gs_pinned_costs_default(&costs);
    check(!gs_pinned_gcaps(&set, false, ms, NULL, response), "figure 5a fails the test");
    check(gs_pinned_gcaps(&set, false, ms, exchanged, response), "figure 5b passes the test");
    check(gs_pinned_schedulable(&set, GS_PINNED_GCAPS, &costs), "the assignment of section 5.3 finds it");
}

/* Two tasks, each alone on a CPU: 1 + (1 + 4) + 1 every 50, and 2 + (2 + 8) + 2 every 100. */
static struct gs_pinned_set two_tasks(void)
{
    return (struct gs_pinned_set){
        .cpus = 2,
        .n = 2,
        .tasks = {
            {.cpu_id = 0, .period_ns = 50 * ms, .n = 1, .cpu = {ms, ms}, .misc = {ms}, .pure = {4 * ms}},
            {.cpu_id = 1, .period_ns = 100 * ms, .n = 1, .cpu = {2 * ms, 2 * ms}, .misc = {2 * ms}, .pure = {8 * ms}}}};
}

/* The least period of the first task for which the analysis accepts the set, in half milliseconds: its response. */
static int64_t least_period(struct gs_pinned_set set, enum gs_pinned_analysis a, const struct gs_pinned_costs *c)
{
    for (int64_t half = 1; half < 200; half++) {
        set.tasks[0].period_ns = half * ms / 2;
        if (gs_pinned_schedulable(&set, a, c))
            return half;
    }
    return -1;
}

static void by_hand(void)
{
    struct gs_pinned_costs c;
    gs_pinned_costs_default(&c);
    c.slice_ns = ms;
    c.switch_ns = ms / 4;
    c.epsilon_ns = ms / 2;
    c.chunk_ns = ms / 4;
    c.handover_ns = 0;
    struct gs_pinned_set set = two_tasks();
    set.tasks[1].period_ns = 1000 * ms;
    check(least_period(set, GS_PINNED_ROBIN, &c) == 24, "7 ms and four turns of 1.25 ms");
    check(least_period(set, GS_PINNED_MPCP, &c) == 34, "7 ms and the 10 ms of the request below");
    check(least_period(set, GS_PINNED_FMLP, &c) == 34, "7 ms and the 10 ms of the request before it");
    check(least_period(set, GS_PINNED_GCAPS, &c) == 18, "7 ms, two updates and two waits of 0.5 ms for one");
    check(least_period(set, GS_PINNED_IDEAL, &c) == 14, "7 ms");
    check(least_period(set, GS_PINNED_WHOLE, &c) == 30, "7 ms and the 8 ms before it, less a nanosecond");
    check(least_period(set, GS_PINNED_CHUNKS, &c) == 15, "7 ms and two chunks of 0.25 ms");
    check(least_period(set, GS_PINNED_QUEUES, &c) == 18, "7 ms and eight commands of 0.25 ms");
}

/* The set as a task set of the general model: on one CPU. */
static void on_one_cpu(const struct gs_pinned_set *set, int64_t chunk, int64_t handover, struct gs_model *m)
{
    gs_model_init(m, 1, 1, 1);
    m->chunked[GS_GPU] = true;
    m->depth = 2;
    m->handover_ns = handover;
    for (size_t i = 0; i < set->n; i++) {
        const struct gs_pinned_task *t = &set->tasks[i];
        struct gs_segment s[2 * GS_PINNED_MAX_SEGMENTS + 1];
        size_t n = 0;
        int64_t cpu = t->cpu[0];
        const int at = gs_model_add_task(m, "t", t->period_ns, t->period_ns);
        m->tasks[at].priority = -(int64_t)i;
        m->tasks[at].chunk_ns[GS_GPU] = chunk;
        for (int j = 0; j < t->n; j++) {
            s[n++] = (struct gs_segment){.resource = GS_CPU, .worst_ns = cpu + t->misc[j] / 2};
            s[n++] = (struct gs_segment){.resource = GS_GPU, .worst_ns = t->pure[j]};
            cpu = t->cpu[j + 1] + t->misc[j] - t->misc[j] / 2;
        }
        s[n++] = (struct gs_segment){.resource = GS_CPU, .worst_ns = cpu};
        gs_model_set_chain(m, (size_t)at, 1, s, n);
    }
    if (gs_model_finish(m))
        abort();
}

/* Chunks as the daemon grants them, on one CPU, at random offsets. */
static void chunks_hold(const struct gs_pinned_set *set, const int64_t *bound, int64_t chunk, int64_t handover)
{
    struct gs_model m;
    int modes[GS_PINNED_MAX_TASKS];
    int64_t offsets[GS_PINNED_MAX_TASKS];
    on_one_cpu(set, chunk, handover, &m);
    struct gs_sim *sim = gs_sim_new(&m);
    for (size_t i = 0; i < set->n; i++)
        modes[i] = 1;
    for (int run = 0; run < 4; run++) {
        for (size_t i = 0; i < set->n; i++)
            offsets[i] = run ? random() % set->tasks[i].period_ns : 0;
        const struct gs_sim_setup setup = {.modes = modes, .offsets = offsets, .horizon = 2000 * ms};
        const struct gs_sim_task *seen = gs_sim_run(sim, &setup);
        for (size_t i = 0; i < set->n; i++)
            check(seen[i].response <= bound[i], "a job in chunks ends within its bound");
    }
    gs_sim_free(sim);
    gs_model_free(&m);
}

static int64_t ordered; /* sets that were accepted with GPU priorities of their own */

static int64_t walk(uint64_t seed, uint64_t sets, bool one_cpu)
{
    const int64_t chunk = ms / 2, handover = ms / 20;
    struct gs_pinned_shape shape;
    int64_t accepted = 0;
    gs_pinned_default(&shape);
    shape.utilization[1] = 0.7;
    if (one_cpu) {
        shape.cpus = 1;
        shape.utilization[0] = 0.2;
        shape.utilization[1] = 0.9;
    }
    for (uint64_t k = 0; k < sets; k++) {
        struct gs_random r;
        struct gs_pinned_set set;
        int64_t bound[GS_PINNED_MAX_TASKS] = {0}, seen[GS_PINNED_MAX_TASKS] = {0}, offsets[GS_PINNED_MAX_TASKS] = {0};
        gs_random_seed(&r, seed, k);
        gs_pinned_generate(&shape, &r, &set);
        if (one_cpu && gs_pinned_safe(&set, 2 * chunk + handover, handover, bound)) {
            accepted++;
            chunks_hold(&set, bound, chunk, handover);
        }
        if (one_cpu)
            continue;
        int rank[GS_PINNED_MAX_TASKS] = {0};
        const bool simple = gs_pinned_safe(&set, 0, 0, bound);
        if (!simple && !gs_pinned_has_order(&set, 0, 0, rank))
            continue;
        accepted++;
        ordered += !simple;
        for (int run = 0; run < 3; run++) {
            check(!gs_pinned_misses(&set, offsets, 2000 * ms, simple ? NULL : rank, seen),
                  "no job of an accepted set misses");
            for (size_t i = 0; i < set.n; i++)
                offsets[i] = gs_random_between(&r, 0, set.tasks[i].period_ns - 1);
        }
        for (size_t i = 0; i < set.n; i++)
            check(!simple || seen[i] <= bound[i], "a job with ideal preemption ends within its bound");
    }
    return accepted;
}

/* More blocking or longer hand-overs never help, and the whole segment is the most there is. */
static void order_of_costs(uint64_t seed, uint64_t sets)
{
    struct gs_pinned_shape shape;
    struct gs_pinned_costs c;
    gs_pinned_default(&shape);
    gs_pinned_costs_default(&c);
    for (uint64_t k = 0; k < sets; k++) {
        struct gs_random r;
        struct gs_pinned_set set;
        gs_random_seed(&r, seed, k);
        gs_pinned_generate(&shape, &r, &set);
        static const enum gs_pinned_analysis order[] = {GS_PINNED_IDEAL, GS_PINNED_CHUNKS, GS_PINNED_QUEUES};
        bool was = true;
        for (size_t a = 0; a < sizeof order / sizeof *order; a++) {
            const bool is = gs_pinned_schedulable(&set, order[a], &c);
            check(was || !is, "what ideal preemption can't, chunks can't, and longer queues can't what chunks can't");
            was = is;
        }
        check(set.n >= 12 && set.n <= 24, "four CPUs of three to six tasks");
    }
}

/* Table 2 with less and less time for the fourth task, until it can't wait for the 80 ms of the third: it can go first
 * on the GPU. */
static void order_helps(void)
{
    const struct gs_pinned_set set = table_2();
    int64_t response[4];
    struct gs_pinned_set tight = set;
    tight.tasks[3].period_ns = 191 * ms; /* as figure 5: it waits for the third task's 80 ms */
    for (; tight.tasks[3].period_ns > 60 * ms; tight.tasks[3].period_ns -= ms)
        if (!gs_pinned_safe(&tight, ms, 0, response))
            break;
    check(tight.tasks[3].period_ns > 60 * ms && gs_pinned_has_order(&tight, ms, 0, NULL),
          "with GPU priorities of their own all meet their deadlines");
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 9, sets = argc > 2 ? strtoull(argv[2], NULL, 0) : 150;
    printf("seed %" PRIu64 "\n", seed);
    srandom((unsigned)seed);
    gcaps_example();
    by_hand();
    order_helps();
    order_of_costs(seed, sets);
    const int64_t four = walk(seed, sets, false), one = walk(seed, sets, true);
    printf("%" PRId64 " sets on four CPUs and %" PRId64 " on one kept their bounds\n", four, one);
    check(four > 0 && one > 0 && ordered > 0, "some sets are accepted, some of them by separate priorities");
    return wrong != 0;
}
