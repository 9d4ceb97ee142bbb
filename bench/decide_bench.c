/* SPDX-License-Identifier: MIT */
/* How long the daemon's decision takes, of 40 and 64 tasks; with a number of tasks, a utilization of the GPUs in
 * percent and a set's number: prints that set, for gpusparc analyze. bench/gema.sh runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gema/generate.h"
#include "scheduler/taskset.h"

enum { SETS = 100, GPUS = 4, MOST_TASKS = 64, CONFIG_SIZE = 1 << 18 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double between(struct gs_random *r, double low, double high)
{
    return low + (high - low) * gs_random_unit(r);
}

/* Five segments, pci, gpu, pci, gpu, pci, periods of 30 to 500 ms; with two GPUs a kernel takes 0.55, with four 0.3 of
 * its time. */
static void write_task(FILE *f, struct gs_random *r, size_t i, double utilization)
{
    const double period = between(r, 30, 500), gpu = utilization * period * between(r, 0.2, 1.8);
    const double pci = gpu * between(r, 0.02, 0.1);
    fprintf(f, "[task t%zu]\nperiod = %.3fms\n", i, period);
    for (int g = 1; g <= GPUS; g *= 2) {
        const double part = (g == 1 ? 1 : g == 2 ? 0.55 : 0.3) * gpu / 2;
        fprintf(f, "segments.%d = cpu %.3fms, pci %.3fms, gpu %.3fms, pci %.3fms, gpu %.3fms, pci %.3fms\n", g, pci,
                pci, part, pci, part, pci);
    }
}

static void write_set(char *text, size_t n, double utilization, uint64_t set)
{
    struct gs_random r;
    FILE *f = fmemopen(text, CONFIG_SIZE, "w");
    if (!f)
        abort();
    gs_random_seed(&r, 43, set);
    fprintf(f, "[system]\ngpus = %d\ncpus = 4\ngpu_chunk = 1ms\npci_chunk = 0.5ms\nhandover = 50us\n", GPUS);
    for (size_t i = 0; i < n; i++)
        write_task(f, &r, i, utilization * GPUS / (double)n);
    fclose(f);
}

static double decide(const char *text, size_t n, bool *schedulable)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    struct gs_member members[MOST_TASKS] = {0};
    struct gs_decision decision;
    if (gs_config_parse(text, strlen(text), &config, &mistakes)) {
        gs_mistakes_print(&mistakes, "generated");
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        members[i] = (struct gs_member){.task = &config.tasks[i], .gpus_max = GPUS};
    const double begin = now_ms();
    if (gs_taskset_decide(&config, GPUS, members, n, &decision))
        abort();
    const double time = now_ms() - begin;
    *schedulable = decision.schedulable;
    gs_config_free(&config);
    gs_mistakes_free(&mistakes);
    return time;
}

/* The least of some times: what else the machine does makes caches cold. */
static double decide_often(const char *text, size_t n, bool *schedulable)
{
    enum { TIMES = 3 };
    double least = decide(text, n, schedulable);
    for (int i = 1; i < TIMES; i++) {
        const double again = decide(text, n, schedulable);
        least = again < least ? again : least;
    }
    return least;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static char text[CONFIG_SIZE];
    if (argc == 4) {
        write_set(text, strtoul(argv[1], NULL, 10), atof(argv[2]) / 100, strtoul(argv[3], NULL, 10));
        fputs(text, stdout);
        return 0;
    }
    for (size_t n = 40; n <= MOST_TASKS; n += 24)
        for (int percent = 16; percent <= 40; percent += 4) {
            double times[SETS];
            int met = 0;
            for (uint64_t k = 0; k < SETS; k++) {
                bool schedulable;
                write_set(text, n, percent / 100.0, k);
                times[k] = decide_often(text, n, &schedulable);
                met += schedulable;
            }
            qsort(times, SETS, sizeof *times, ascending);
            printf("decision of %zu tasks, GPUs' utilization %d %%: median %6.1f ms, all but one of %d %6.1f ms, "
                   "worst %6.1f ms, %d of them schedulable\n",
                   n, percent, times[SETS / 2], SETS, times[SETS - 2], times[SETS - 1], met);
        }
    return 0;
}
