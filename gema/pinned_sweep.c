/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gema/pinned.h"

const char *const gs_pinned_abscissas[GS_PINNED_SWEEPS] = {"number of tasks",     "utilization of each CPU",
                                                           "number of CPUs",      "tasks that use the GPU",
                                                           "GPU time / CPU time", "tasks of best effort"};

/* First x, step and number of points, as in figure 8. */
static const struct {
    double first, step;
    int points;
} axes[GS_PINNED_SWEEPS] = {{2, 2, 10}, {0.1, 0.1, 9}, {1, 1, 10}, {0.1, 0.1, 10}, {0, 0.2, 11}, {0.1, 0.1, 9}};

static void vary(enum gs_pinned_sweep sweep, double x, struct gs_pinned_shape *s)
{
    switch (sweep) {
    case GS_PINNED_BY_TASKS:
        s->total = (int)(x + 0.5);
        break;
    case GS_PINNED_BY_UTILIZATION:
        s->utilization[0] = s->utilization[1] = x;
        break;
    case GS_PINNED_BY_CPUS:
        s->cpus = (int)(x + 0.5);
        break;
    case GS_PINNED_BY_GPU_TASKS:
        s->gpu_tasks[0] = s->gpu_tasks[1] = x;
        break;
    case GS_PINNED_BY_GPU_TIME:
        s->gpu_to_cpu[0] = s->gpu_to_cpu[1] = x;
        break;
    default:
        s->best_effort = x;
        break;
    }
}

void gs_pinned_run(enum gs_pinned_sweep sweep, uint64_t sets, uint64_t seed, const struct gs_pinned_costs *costs,
                   const atomic_int *stop, struct gs_pinned_curve *curve)
{
    memset(curve, 0, sizeof *curve);
    curve->points = axes[sweep].points;
    for (int i = 0; i < curve->points; i++) {
        struct gs_pinned_shape shape;
        gs_pinned_default(&shape);
        curve->x[i] = axes[sweep].first + i * axes[sweep].step;
        vary(sweep, curve->x[i], &shape);
        for (uint64_t k = 0; k < sets && !(stop && *stop); k++, curve->sets[i]++) {
            struct gs_random random;
            struct gs_pinned_set set;
            gs_random_seed(&random, seed, k);
            gs_pinned_generate(&shape, &random, &set);
            for (int a = 0; a < GS_PINNED_ANALYSES; a++)
                curve->schedulable[i][a] += gs_pinned_schedulable(&set, (enum gs_pinned_analysis)a, costs, NULL);
        }
    }
}
