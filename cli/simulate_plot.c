/* SPDX-License-Identifier: MIT */
#include "cli/simulate_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "common/chart.h"
#include "common/plot.h"
#include "gema/assign.h"

static bool is_relative(const struct gs_experiment *e)
{
    return e->abscissa == GS_BY_UTILIZATION && e->policies[GS_POLICY_GLOBAL] && !e->any_priorities;
}

/* The points' values, of those that have one; per cent. */
static size_t fill(const struct gs_experiment *e, const struct gs_experiment_result *r, int policy, double *x,
                   double *y)
{
    size_t n = 0;
    for (int i = 0; i < e->points; i++) {
        const struct gs_point *p = &r->points[i];
        const uint64_t whole = is_relative(e) ? p->schedulable[GS_POLICY_GLOBAL] : p->sets;
        if (!whole)
            continue;
        x[n] = p->x;
        y[n++] = 100 * (double)p->schedulable[policy] / (double)whole;
    }
    return n;
}

int gs_simulate_draw(const char *path, const struct gs_experiment *e, const struct gs_experiment_result *r)
{
    static double x[GS_POLICIES][GS_EXPERIMENT_MAX_POINTS], y[GS_POLICIES][GS_EXPERIMENT_MAX_POINTS];
    struct gs_curve curves[GS_POLICIES];
    char note[160];
    size_t n = 0;
    for (int k = 0; k < GS_POLICIES; k++)
        if (e->policies[k]) {
            const size_t points = fill(e, r, k, x[k], y[k]);
            curves[n++] = (struct gs_curve){.name = gs_policy_names[k], .x = x[k], .y = y[k], .n = points};
        }
    snprintf(note, sizeof note,
             "%" PRIu64 " random sets, seed %" PRIu64 ", analysis %s%s; CPUs: %d, links: %d, GPUs: %d", r->sets,
             e->seed, gs_analysis_names[e->analysis], e->any_priorities ? ", priorities audsley" : "",
             e->generator.cpus, e->generator.links, e->generator.gpus);
    const struct gs_panel panel = {
        .x.label =
            e->abscissa == GS_BY_UTILIZATION ? "total GPU utilization (GPUs)" : "probability of dependent kernels",
        .y = {.label = is_relative(e) ? "schedulable, % of global's" : "schedulable, % of the sets", .from_zero = true},
        .curves = curves,
        .n_curves = n};
    const struct gs_chart chart = {.title = "Task sets that each policy makes schedulable",
                                   .note = note,
                                   .panels = &panel,
                                   .n = 1,
                                   .columns = 1,
                                   .width = 620,
                                   .height = 380};
    FILE *f = gs_plot_open(path);
    if (!f)
        return -EIO;
    gs_chart_write(&chart, f);
    return gs_plot_close(f, path);
}
