/* SPDX-License-Identifier: MIT */
/* The picture of a warp schedule: which instruction each warp has reached, over time. */
#include <errno.h>
#include <stdlib.h>

#include "common/chart.h"
#include "gema/warpsched.h"

enum { NAME = 48 };

/* The warp's progress: level while it waits, a step up at each issue. */
static struct gs_curve curve_of(const struct gs_warpsched_result *r, unsigned warp, const char *name, double *x,
                                double *y)
{
    size_t n = 1;
    x[0] = y[0] = 0;
    for (uint64_t i = 0; i < r->instructions; i++)
        if (r->issue[i].warp == warp) {
            x[n] = (double)r->issue[i].cycle;
            y[n++] = (double)r->issue[i].op + 1;
        }
    x[n] = (double)r->finish[warp];
    y[n] = y[n - 1];
    return (struct gs_curve){.name = name, .x = x, .y = y, .n = n + 1};
}

static size_t points_of(const struct gs_warpsched_result *r, unsigned warp)
{
    size_t n = 2;
    for (uint64_t i = 0; i < r->instructions; i++)
        n += r->issue[i].warp == warp;
    return n;
}

int gs_warpsched_write_svg(const struct gs_timing_program *program, const struct gs_timing_profile *profile,
                           const struct gs_warpsched_options *options, const struct gs_warpsched_result *result,
                           unsigned scheduler, FILE *out)
{
    const unsigned step = profile->warp_schedulers, most = options->warps / step + 1;
    struct gs_curve *curves = calloc(most, sizeof *curves);
    char(*names)[NAME] = calloc(most, sizeof *names), title[128], note[160];
    double *points = calloc(2 * (size_t)result->instructions + 4 * (size_t)most, sizeof *points), *at = points;
    const bool ok = curves && names && points;
    unsigned n = 0;
    for (unsigned w = scheduler; ok && w < options->warps; w += step, n++) {
        const size_t size = points_of(result, w);
        snprintf(names[n], sizeof names[n], "warp %u, ends at %llu", w, (unsigned long long)result->finish[w]);
        curves[n] = curve_of(result, w, names[n], at, at + size);
        at += 2 * size;
    }
    snprintf(title, sizeof title, "%s: the warps of scheduler %u of %u", gs_warpsched_policy_name(options->policy),
             scheduler, step);
    snprintf(note, sizeof note, "%u warps of %zu instructions, %.3f instructions per cycle", options->warps, program->n,
             result->cycles ? (double)result->instructions / (double)result->cycles : 0);
    const struct gs_panel panel = {.kind = GS_PANEL_STEPS,
                                   .x = {.label = "time (clock cycles)", .from_zero = true},
                                   .y = {.label = "instructions issued", .from_zero = true},
                                   .curves = curves,
                                   .n_curves = n};
    const struct gs_chart chart = {
        .title = title, .note = note, .panels = &panel, .n = 1, .columns = 1, .width = 700, .height = 380};
    if (ok)
        gs_chart_write(&chart, out);
    free(points);
    free(names);
    free(curves);
    return ok ? 0 : -ENOMEM;
}
