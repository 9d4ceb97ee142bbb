/* SPDX-License-Identifier: MIT */
/* Random sets of pinned tasks. */
#include "gema/pinned.h"

#include <math.h>
#include <string.h>

void gs_pinned_default(struct gs_pinned_shape *s)
{
    *s = (struct gs_pinned_shape){.cpus = 4,
                                  .tasks = {3, 6},
                                  .utilization = {0.4, 0.6},
                                  .task_utilization = {0.05, 0.3},
                                  .gpu_tasks = {0.4, 0.6},
                                  .period_ms = {30, 500},
                                  .segments = {1, 3},
                                  .gpu_to_cpu = {0.2, 2},
                                  .misc = {0.1, 0.3}};
}

void gs_pinned_costs_default(struct gs_pinned_costs *c)
{
    *c = (struct gs_pinned_costs){.epsilon_ns = 1000000,
                                  .slice_ns = 1024000,
                                  .switch_ns = 200000,
                                  .chunk_ns = 500000,
                                  .handover_ns = 50000,
                                  .depth = 2,
                                  .queued = 8};
}

static double uniform(struct gs_random *r, const double *range)
{
    return range[0] + (range[1] - range[0]) * gs_random_unit(r);
}

static int uniform_int(struct gs_random *r, const int *range)
{
    return (int)gs_random_between(r, range[0], range[1]);
}

/* UUniFast (Bini, Buttazzo 2005): n parts of the total, uniform among all such. */
static void divide(struct gs_random *r, double total, int n, double *part)
{
    for (int i = 0; i < n - 1; i++) {
        const double rest = total * pow(1 - gs_random_unit(r), 1.0 / (n - 1 - i));
        part[i] = total - rest;
        total = rest;
    }
    part[n - 1] = total;
}

static int64_t at_least_one(double ns)
{
    return ns < 1 ? 1 : (int64_t)ns;
}

static void add_task(const struct gs_pinned_shape *s, struct gs_random *r, double utilization,
                     struct gs_pinned_set *set)
{
    struct gs_pinned_task *t = &set->tasks[set->n++];
    double part[GS_PINNED_MAX_SEGMENTS + 1], gpu = 0;
    *t = (struct gs_pinned_task){.period_ns = at_least_one(uniform(r, s->period_ms) * 1e6)};
    const double time = utilization * (double)t->period_ns;
    if (gs_random_unit(r) < uniform(r, s->gpu_tasks)) {
        const double ratio = uniform(r, s->gpu_to_cpu);
        gpu = time * ratio / (1 + ratio);
        t->n = uniform_int(r, s->segments);
        divide(r, gpu, t->n, part);
        for (int j = 0; j < t->n; j++) {
            t->misc[j] = at_least_one(part[j] * uniform(r, s->misc));
            t->pure[j] = at_least_one(part[j] - (double)t->misc[j]);
        }
    }
    divide(r, time - gpu, t->n + 1, part);
    for (int j = 0; j <= t->n; j++)
        t->cpu[j] = at_least_one(part[j]);
}

static double utilization_of(const struct gs_pinned_task *t)
{
    int64_t sum = 0;
    for (int j = 0; j <= t->n; j++)
        sum += t->cpu[j] + (j < t->n ? t->misc[j] + t->pure[j] : 0);
    return (double)sum / (double)t->period_ns;
}

/* Worst fit, the largest first. */
static void spread_tasks(struct gs_pinned_set *set)
{
    double load[GS_PINNED_MAX_CPUS] = {0};
    bool done[GS_PINNED_MAX_TASKS] = {false};
    for (size_t k = 0; k < set->n; k++) {
        size_t next = set->n;
        int least = 0;
        for (size_t i = 0; i < set->n; i++)
            if (!done[i] && (next == set->n || utilization_of(&set->tasks[i]) > utilization_of(&set->tasks[next])))
                next = i;
        for (int c = 1; c < set->cpus; c++)
            least = load[c] < load[least] ? c : least;
        set->tasks[next].cpu_id = least;
        load[least] += utilization_of(&set->tasks[next]);
        done[next] = true;
    }
}

void gs_pinned_sort(struct gs_pinned_set *set)
{
    for (size_t i = 1; i < set->n; i++) {
        const struct gs_pinned_task t = set->tasks[i];
        size_t at = i;
        for (; at > 0; at--) {
            const struct gs_pinned_task *u = &set->tasks[at - 1];
            if (u->best_effort < t.best_effort || (u->best_effort == t.best_effort && u->period_ns <= t.period_ns))
                break;
            set->tasks[at] = *u;
        }
        set->tasks[at] = t;
    }
}

void gs_pinned_generate(const struct gs_pinned_shape *s, struct gs_random *r, struct gs_pinned_set *set)
{
    double part[GS_PINNED_MAX_TASKS];
    set->cpus = s->cpus;
    set->n = 0;
    for (int i = 0; i < s->total; i++)
        add_task(s, r, uniform(r, s->task_utilization), set);
    for (int c = 0; c < s->cpus && !s->total; c++) {
        const int n = uniform_int(r, s->tasks);
        divide(r, uniform(r, s->utilization), n, part);
        for (int i = 0; i < n && set->n < GS_PINNED_MAX_TASKS; i++)
            add_task(s, r, part[i], set);
    }
    spread_tasks(set);
    /* The first tasks are as random as any. */
    for (size_t i = 0; i < (size_t)(s->best_effort * (double)set->n); i++)
        set->tasks[i].best_effort = true;
    gs_pinned_sort(set);
}
