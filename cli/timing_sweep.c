/* SPDX-License-Identifier: MIT */
#include "cli/timing_sweep.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/chart.h"
#include "common/log.h"
#include "common/plot.h"

enum { MAX_POINTS = 10000 };

/* The curves: each point's number of the profile, and cycles or errors in percent by both models. */
struct curves {
    size_t n;
    double x[MAX_POINTS], cycles[2][MAX_POINTS], error[2][MAX_POINTS];
};

/* A number of n characters. */
static bool read_number(const char *text, size_t n, double *v)
{
    char copy[40], *end;
    if (!n || n >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)n, text);
    *v = strtod(copy, &end);
    return !*end && *v >= 0;
}

bool timing_sweep_read(struct timing_sweep *s, const char *text)
{
    const char *eq = strchr(text, '='), *dots = eq ? strstr(eq, "..") : NULL, *slash = dots ? strchr(dots, '/') : NULL;
    const char *end = text + strlen(text);
    s->step = 1;
    if (dots && (size_t)(eq - text) < sizeof s->key && read_number(eq + 1, (size_t)(dots - eq - 1), &s->first) &&
        read_number(dots + 2, (size_t)((slash ? slash : end) - dots - 2), &s->last) &&
        (!slash || read_number(slash + 1, (size_t)(end - slash - 1), &s->step)) && s->last >= s->first && s->step > 0 &&
        (s->last - s->first) / s->step < MAX_POINTS - 1) {
        snprintf(s->key, sizeof s->key, "%.*s", (int)(eq - text), text);
        return true;
    }
    gs_error("--sweep wants KEY=A..B/STEP, such as global_load=350..500/10, of at most %d points, not '%s'", MAX_POINTS,
             text);
    return false;
}

double timing_mwp(const struct gs_timing_profile *p, const struct gs_timing_mix *mix)
{
    uint64_t all = 0;
    for (int i = 0; i < GS_PTX_CLASSES; i++)
        all += mix->count[i];
    return gs_timing_mwp_one_warp(p->cost[GS_PTX_GLOBAL_LOAD].latency[GS_TIMING_AVERAGE],
                                  mix->count[GS_PTX_GLOBAL_LOAD], p->scheduler_cycles, all);
}

void timing_sweep_hide(const struct timing_sweep *s, const struct gs_timing_profile *p, struct gs_timing_mix *mix)
{
    if (s->hidden_share >= 0)
        mix->hidden = s->hidden_share * (double)mix->count[GS_PTX_GLOBAL_LOAD] *
                      p->cost[GS_PTX_GLOBAL_LOAD].latency[GS_TIMING_AVERAGE];
}

static bool fill(const struct timing_sweep *s, const struct gs_timing_profile *profile, const struct gs_timing_mix *mix,
                 struct curves *c)
{
    for (c->n = 0; s->first + (double)c->n * s->step <= s->last + s->step * 1e-9; c->n++) {
        struct gs_timing_profile p = *profile;
        struct gs_timing_mix m = *mix;
        char text[100], why[200];
        c->x[c->n] = s->first + (double)c->n * s->step;
        snprintf(text, sizeof text, "%s=%.17g", s->key, c->x[c->n]);
        if (gs_timing_profile_set(&p, text, why, sizeof why)) {
            gs_error("--sweep: %s", why);
            return false;
        }
        timing_sweep_hide(s, &p, &m);
        c->cycles[0][c->n] = gs_timing_mix_cycles(&p, &m, GS_TIMING_AVERAGE);
        c->cycles[1][c->n] = timing_mwp(&p, &m);
        for (int k = 0; k < 2; k++)
            c->error[k][c->n] = s->measured > 0 ? 100 * (c->cycles[k][c->n] / s->measured - 1) : 0;
    }
    return true;
}

static void print_table(const struct timing_sweep *s, const struct curves *c)
{
    printf("%16s %16s %16s", s->key, "equations", "Hong and Kim");
    puts(s->measured > 0 ? "   errors, %" : "");
    for (size_t i = 0; i < c->n; i++) {
        printf("%16.10g %16.10g %16.10g", c->x[i], c->cycles[0][i], c->cycles[1][i]);
        if (s->measured > 0)
            printf(" %+10.1f %+10.1f", c->error[0][i], c->error[1][i]);
        putchar('\n');
    }
}

static void print_json(const struct timing_sweep *s, const struct curves *c)
{
    json_t *points = json_array();
    for (size_t i = 0; i < c->n; i++) {
        json_t *p =
            json_pack("{s:f, s:f, s:f}", "value", c->x[i], "equations", c->cycles[0][i], "mwp", c->cycles[1][i]);
        if (s->measured > 0) {
            json_object_set_new(p, "equations_error", json_real(c->error[0][i] / 100));
            json_object_set_new(p, "mwp_error", json_real(c->error[1][i] / 100));
        }
        json_array_append_new(points, p);
    }
    json_t *j = json_pack("{s:s, s:o}", "sweep", s->key, "points", points);
    json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(j);
}

static bool draw(const struct timing_sweep *s, const struct curves *c, const char *svg)
{
    const bool errors = s->measured > 0;
    char axis[80];
    snprintf(axis, sizeof axis, "%s (cycles)", s->key);
    const struct gs_curve curves[] = {
        {.name = "equations 1 to 11", .x = c->x, .y = errors ? c->error[0] : c->cycles[0], .n = c->n},
        {.name = "Hong and Kim", .x = c->x, .y = errors ? c->error[1] : c->cycles[1], .n = c->n}};
    const struct gs_panel panel = {.x = {.label = axis},
                                   .y = {.label = errors ? "error (%)" : "one warp (cycles)", .from_zero = errors},
                                   .curves = curves,
                                   .n_curves = 2};
    const struct gs_chart chart = {.title = "One warp, average case, by two models",
                                   .panels = &panel,
                                   .n = 1,
                                   .columns = 1,
                                   .width = 520,
                                   .height = 300};
    FILE *f = gs_plot_open(svg);
    if (!f)
        return false;
    gs_chart_write(&chart, f);
    return gs_plot_close(f, svg) == 0;
}

int timing_sweep_run(const struct timing_sweep *s, const struct gs_timing_profile *profile,
                     const struct gs_timing_mix *mix, bool json, const char *svg)
{
    struct curves *c = malloc(sizeof *c);
    int status = GS_EXIT_FAILED;
    if (!c)
        gs_error("there is not enough memory for the sweep");
    else if (!fill(s, profile, mix, c))
        status = GS_EXIT_USAGE;
    else {
        if (json)
            print_json(s, c);
        else
            print_table(s, c);
        status = !svg || draw(s, c, svg) ? GS_EXIT_OK : GS_EXIT_FAILED;
    }
    free(c);
    return status;
}
