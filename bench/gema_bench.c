/* SPDX-License-Identifier: MIT */
/* How long the analyses and policies take on generated sets. No arguments; bench/gema.sh runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gema/assign.h"
#include "gema/generate.h"

/* The thread's own time: other programs on the machine don't count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* n tasks of 5 kernels each, scaled so that the GPUs' utilization is u in single mode. */
static void make_set(struct gs_model *m, size_t n, double u, uint64_t index)
{
    struct gs_generator g;
    struct gs_random r;
    gs_generator_default(&g);
    g.kernels = 5;
    gs_random_seed(&r, 42, index);
    gs_generate_begin(&g, m);
    for (size_t i = 0; i < n; i++)
        if (gs_generate_task(&g, &r, m))
            abort();
    double factor = u / gs_gpu_utilization(m);
    for (size_t i = 0; i < n; i++)
        for (int k = 1; k <= g.gpus; k++)
            for (size_t j = 0; j < m->tasks[i].chains[k].n; j++) {
                struct gs_segment *s = &m->tasks[i].chains[k].segments[j];
                s->worst_ns = (int64_t)((double)s->worst_ns * factor) + 1;
                s->best_ns = s->worst_ns;
            }
    if (gs_model_finish(m))
        abort();
}

enum { SETS = 50, REPEAT = 200 };

static void time_analysis(enum gs_analysis analysis, int mode, double u)
{
    double times[SETS];
    size_t segments = 0;
    int schedulable = 0;
    for (uint64_t k = 0; k < SETS; k++) {
        struct gs_model m;
        int modes[10];
        make_set(&m, 10, u, k);
        segments = m.tasks[0].chains[1].n;
        for (int i = 0; i < 10; i++)
            modes[i] = mode ? mode : i % 2 ? 4 : 1;
        struct gs_analyzer *a = gs_analyzer_new(&m, analysis);
        gs_analyze(a, modes);
        double begin = now();
        for (int i = 0; i < REPEAT; i++) {
            gs_analyzer_forget(a);
            gs_analyze(a, modes);
        }
        times[k] = (now() - begin) / REPEAT;
        schedulable += gs_schedulable(a, modes);
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    qsort(times, SETS, sizeof *times, compare);
    printf(
        "%-6s 10 tasks x %zu segments, %-5s utilization %.1f: median %6.1f us, worst %6.1f us, %d of %d schedulable\n",
        gs_analysis_names[analysis], segments,
        mode == 1 ? "1 GPU"
        : mode    ? "4 GPU"
                  : "mixed",
        u, times[SETS / 2], times[SETS - 1], schedulable, SETS);
}

static void time_policy(enum gs_policy policy, size_t n, double u, bool two_modes)
{
    double times[SETS];
    int schedulable = 0;
    for (uint64_t k = 0; k < SETS; k++) {
        struct gs_model m;
        int modes[32];
        struct gs_assign_options o = {.two_modes = two_modes};
        make_set(&m, n, u, k);
        struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        double begin = now();
        schedulable += gs_assign(a, policy, &o, modes) == 1;
        times[k] = now() - begin;
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    qsort(times, SETS, sizeof *times, compare);
    printf(
        "%-6s %2zu tasks x 21 segments, %s, utilization %.1f: median %9.1f us, worst %9.1f us, %d of %d schedulable\n",
        gs_policy_names[policy], n, two_modes ? "{1, 4} GPUs" : "1..4 GPUs  ", u, times[SETS / 2], times[SETS - 1],
        schedulable, SETS);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int u = 2; u <= 12; u += 5)
        for (int mode = 0; mode <= 4; mode += mode ? 3 : 1)
            for (int k = 0; k < GS_ANALYSES; k++)
                time_analysis((enum gs_analysis)k, mode, u * 0.1);
    for (int p = 0; p < GS_POLICIES; p++)
        for (int u = 2; u <= 17; u += 5)
            time_policy((enum gs_policy)p, 10, u * 0.1, true);
    for (int p = 0; p < GS_POLICIES; p++)
        for (int u = 2; u <= 17; u += 5)
            time_policy((enum gs_policy)p, 10, u * 0.1, false);
    for (int u = 1; u <= 16; u += 1)
        time_policy(GS_POLICY_GLOBAL, 20, u * 0.1, true);
    return 0;
}
