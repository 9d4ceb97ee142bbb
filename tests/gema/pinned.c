/* SPDX-License-Identifier: MIT */
/* Pinned tasks with one GPU: the printed example of GCAPS, figures by hand for the other published analyses, and
 * every row's bounds against a simulation of its scheduler. Arguments: seed, number of random sets. */
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
    const struct gs_pinned_scheduler s = gs_pinned_scheduler_of(GS_PINNED_GCAPS, &costs);
    check(!gs_pinned_gcaps(&set, &s, NULL, response), "figure 5a fails the test");
    check(gs_pinned_gcaps(&set, &s, exchanged, response), "figure 5b passes the test");
    check(gs_pinned_schedulable(&set, GS_PINNED_GCAPS, &costs, NULL), "the assignment of section 5.3 finds it");
}

/* The case study of table 4, whose figures are rounded and don't have Gm; with these times, within 2 ms of them, the
 * bounds are those of table 5. Its seventh task draws; with it fmlp+ fails at the first task. */
static void case_study(void)
{
    struct gs_pinned_set set = {
        .cpus = 5,
        .n = 6,
        .tasks = {
            {.cpu_id = 0, .period_ns = 100 * ms, .n = 1, .cpu = {ms}, .misc = {ms}, .pure = {10 * ms}},
            {.cpu_id = 1, .period_ns = 150 * ms, .n = 1, .cpu = {2 * ms}, .misc = {2 * ms}, .pure = {12 * ms}},
            {.cpu_id = 1, .period_ns = 200 * ms, .cpu = {68 * ms}},
            {.cpu_id = 0, .period_ns = 300 * ms, .n = 1, .cpu = {12 * ms}, .misc = {3 * ms / 2}, .pure = {27 * ms / 2}},
            {.cpu_id = 0, .period_ns = 400 * ms, .n = 1, .cpu = {ms}, .misc = {ms}, .pure = {16 * ms}},
            {.cpu_id = 3, .period_ns = 200 * ms, .n = 1, .cpu = {4 * ms}, .pure = {44 * ms}, .best_effort = true},
            {.cpu_id = 4, .period_ns = 67 * ms, .n = 1, .cpu = {4 * ms}, .pure = {27 * ms}, .best_effort = true}}};
    static const int64_t suspend[] = {16, 32, 75, 59, 79}, busy[] = {16, 32, 111, 59, 79};
    /* In tenths of a millisecond. The two that are left out, 76 and 127.8, are printed with jitters of T for lemma 7's
     * R. */
    static const int64_t turns[] = {600, 736, 0, 982, 0};
    struct gs_pinned_scheduler s = {GS_PINNED_UPDATED, .epsilon_ns = ms, .slice_ns = ms, .switch_ns = ms / 5};
    int64_t self[7] = {0}, waiting[7] = {0}, robin[7] = {0};
    check(gs_pinned_gcaps(&set, &s, NULL, self), "the case study passes");
    s.busy = true;
    check(gs_pinned_gcaps(&set, &s, NULL, waiting), "so it does busily");
    check(gs_pinned_robin(&set, &s, NULL, robin), "and in turns");
    for (int i = 0; i < 5; i++) {
        check(self[i] == suspend[i] * ms && waiting[i] == busy[i] * ms, "GCAPS's bounds are those of table 5");
        check(!turns[i] || robin[i] == turns[i] * ms / 10, "and those of contexts in turns");
    }
    set.n = 7;
    check(!gs_pinned_fmlp(&set, &s, NULL, self) && self[0] < 0, "fmlp+ fails at the first task");
}

/* Is the first task of the set late, whose formula gives `formula`, by what the scheduler does from these offsets on?
 */
static void fails(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, gs_pinned_bound *bound,
                  int64_t formula, const int64_t *offsets, int64_t happens)
{
    int64_t response[GS_PINNED_MAX_TASKS], seen[GS_PINNED_MAX_TASKS] = {0};
    const struct gs_pinned_walk w = {.offsets = offsets, .horizon = 100 * ms, .response = seen};
    check(bound(set, s, NULL, response) && response[0] == formula, "the formula gives what docs/compare.md says");
    gs_pinned_misses(set, s, &w);
    check(seen[0] == happens, "what docs/compare.md says happens");
}

/* GCAPS, lemma 8 counts one wait for the mutex a segment, which asks for it twice. */
static void lemma_8_fails(void)
{
    struct gs_pinned_set set = {.cpus = 5, .n = 5};
    const struct gs_pinned_scheduler s = {GS_PINNED_UPDATED, .epsilon_ns = ms, .mutex = true};
    /* One below is in its update for 0.1 ms whenever the first task asks: at 1, 3.9, 6.8 and 9.7 ms. */
    const int64_t offsets[] = {0, 0, 29 * ms / 10, 58 * ms / 10, 87 * ms / 10};
    set.tasks[0] = (struct gs_pinned_task){.period_ns = 100 * ms, .n = 2, .cpu = {ms, ms, ms}, .pure = {ms, ms}};
    for (int i = 1; i < 5; i++)
        set.tasks[i] = (struct gs_pinned_task){
            .cpu_id = i, .period_ns = 1000 * ms, .n = 1, .cpu = {9 * ms / 10, ms}, .pure = {50 * ms}};
    fails(&set, &s, gs_pinned_gcaps, 12 * ms, offsets, 126 * ms / 10);
}

/* Its lemma 1 counts a switch for each other context's turn, and none for the task's own. */
static void lemma_1_fails(void)
{
    const struct gs_pinned_scheduler s = {GS_PINNED_SLICED, .slice_ns = ms, .switch_ns = ms / 5};
    const int64_t offsets[] = {ms, 0};
    const struct gs_pinned_set set = {
        .cpus = 2,
        .n = 2,
        .tasks = {{.cpu_id = 0, .period_ns = 100 * ms, .n = 1, .cpu = {ms, ms}, .pure = {3 * ms}},
                  {.cpu_id = 1, .period_ns = 200 * ms, .n = 1, .cpu = {199 * ms / 100, ms}, .pure = {50 * ms}}}};
    fails(&set, &s, gs_pinned_robin, 86 * ms / 10, offsets, 919 * ms / 100);
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
        if (gs_pinned_schedulable(&set, a, c, NULL))
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

/* Sets of each row: accepted, and of these by separate priorities. */
static uint64_t accepted[GS_PINNED_ANALYSES], ranked[GS_PINNED_ANALYSES];

/* The set with these priorities on all servers. */
static struct gs_pinned_set in_order(const struct gs_pinned_set *set, const int *rank)
{
    struct gs_pinned_set ordered = *set;
    int ranks[GS_PINNED_MAX_TASKS];
    for (size_t i = 0; i < set->n; i++) {
        size_t at = i;
        for (; at > 0 && ranks[at - 1] > rank[i]; at--) {
            ranks[at] = ranks[at - 1];
            ordered.tasks[at] = ordered.tasks[at - 1];
        }
        ranks[at] = rank[i];
        ordered.tasks[at] = set->tasks[i];
    }
    return ordered;
}

/* Three runs of the row's own scheduler: no job is later than its bound. The ceiling promises nothing. */
static void row_holds(const struct gs_pinned_set *set, enum gs_pinned_analysis a, const struct gs_pinned_costs *c,
                      struct gs_random *r)
{
    struct gs_pinned_scheduler s = gs_pinned_scheduler_of(a, c);
    struct gs_pinned_answer answer;
    int64_t offsets[GS_PINNED_MAX_TASKS] = {0}, seen[GS_PINNED_MAX_TASKS] = {0};
    if (!gs_pinned_schedulable(set, a, c, &answer))
        return;
    s.switch_ns = 0; /* see lemma_1_fails */
    accepted[a]++;
    ranked[a] += answer.ranked;
    const bool reordered = answer.ranked && answer.everywhere;
    const struct gs_pinned_set run_as = reordered ? in_order(set, answer.rank) : *set;
    for (int run = 0; run < 3; run++) {
        const struct gs_pinned_walk w = {.offsets = offsets,
                                         .horizon = 1000 * ms,
                                         .rank = answer.ranked && !reordered ? answer.rank : NULL,
                                         .random = run < 2 ? NULL : r,
                                         .response = seen};
        bool ok = !gs_pinned_misses(&run_as, &s, &w);
        for (size_t i = 0; i < set->n && !set->tasks[i].best_effort && !reordered; i++)
            ok = ok && seen[i] <= answer.response[i];
        if (!ok)
            printf("row %s, run %d: ", gs_pinned_name((enum gs_pinned_analysis)a), run);
        check(ok, "no job of an accepted set is later than its bound");
        for (size_t i = 0; i < set->n; i++)
            offsets[i] = gs_random_between(r, 0, set->tasks[i].period_ns - 1);
    }
}

static void rows_hold(uint64_t seed, uint64_t sets)
{
    struct gs_pinned_costs c;
    gs_pinned_costs_default(&c);
    for (uint64_t k = 0; k < sets; k++) {
        struct gs_random r;
        struct gs_pinned_set set;
        struct gs_pinned_shape shape;
        gs_random_seed(&r, seed, k);
        gs_pinned_default(&shape);
        shape.cpus = (int)gs_random_between(&r, 1, 4);
        shape.utilization[0] = 0.1;
        shape.utilization[1] = shape.cpus == 1 ? 0.9 : 0.6;
        shape.period_ms[0] = 10;
        shape.period_ms[1] = 100;
        shape.gpu_to_cpu[1] = 4;
        shape.best_effort = k % 4 == 0 ? 0.3 : 0;
        gs_pinned_generate(&shape, &r, &set);
        c.epsilon_ns = gs_random_between(&r, 0, ms);
        c.handover_ns = gs_random_between(&r, 0, ms / 5);
        c.depth = (int)gs_random_between(&r, 2, 4);
        for (int a = 0; a < GS_PINNED_NOT_REFUTED; a++)
            row_holds(&set, (enum gs_pinned_analysis)a, &c, &r);
    }
    for (int a = 0; a < GS_PINNED_NOT_REFUTED; a++)
        printf("%-10s %6" PRIu64 " sets accepted, %" PRIu64 " by other priorities\n",
               gs_pinned_name((enum gs_pinned_analysis)a), accepted[a], ranked[a]);
}

/* Theorem 11's bounds in chunks on one CPU, by the general simulator. */
static void one_cpu_holds(uint64_t seed, uint64_t sets)
{
    const struct gs_pinned_scheduler s = {GS_PINNED_CHUNKED, .chunk_ns = ms / 2, .depth = 2, .handover_ns = ms / 20};
    struct gs_pinned_shape shape;
    uint64_t n = 0;
    gs_pinned_default(&shape);
    shape.cpus = 1;
    shape.utilization[0] = 0.2;
    shape.utilization[1] = 0.9;
    for (uint64_t k = 0; k < sets; k++) {
        struct gs_random r;
        struct gs_pinned_set set;
        int64_t bound[GS_PINNED_MAX_TASKS] = {0};
        gs_random_seed(&r, seed, k);
        gs_pinned_generate(&shape, &r, &set);
        if (!gs_pinned_safe(&set, &s, NULL, bound))
            continue;
        n++;
        chunks_hold(&set, bound, s.chunk_ns, s.handover_ns);
    }
    check(n > 0, "some sets on one CPU are accepted");
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
            const bool is = gs_pinned_schedulable(&set, order[a], &c, NULL);
            check(was || !is, "what ideal preemption can't, chunks can't, and longer queues can't what chunks can't");
            was = is;
        }
        check(set.n >= 12 && set.n <= 24, "four CPUs of three to six tasks");
    }
}

/* Table 2 with less and less time for the fourth task, until it can't wait for the 80 ms of the third: it can go first,
 * which is on another CPU. */
static void order_helps(void)
{
    const struct gs_pinned_set set = table_2();
    const struct gs_pinned_scheduler s = {GS_PINNED_CHUNKED, .chunk_ns = ms / 2, .depth = 2};
    int64_t response[4];
    int rank[4];
    struct gs_pinned_set tight = set;
    tight.tasks[3].period_ns = 191 * ms; /* as figure 5: it waits for the third task's 80 ms */
    for (; tight.tasks[3].period_ns > 60 * ms; tight.tasks[3].period_ns -= ms)
        if (!gs_pinned_safe(&tight, &s, NULL, response))
            break;
    check(tight.tasks[3].period_ns > 60 * ms && gs_pinned_safe_order(&tight, &s, rank),
          "with other priorities all meet their deadlines");
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 9, sets = argc > 2 ? strtoull(argv[2], NULL, 0) : 150;
    printf("seed %" PRIu64 "\n", seed);
    srandom((unsigned)seed);
    gcaps_example();
    case_study();
    lemma_8_fails();
    lemma_1_fails();
    by_hand();
    order_helps();
    order_of_costs(seed, sets);
    rows_hold(seed, sets);
    one_cpu_holds(seed, sets);
    check(ranked[GS_PINNED_CHUNKS] > 0 && ranked[GS_PINNED_GCAPS] > 0, "some sets need other priorities");
    return wrong != 0;
}
