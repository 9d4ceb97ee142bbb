/* SPDX-License-Identifier: MIT */
/* gpusparc bench: the pictures. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "common/chart.h"
#include "common/log.h"
#include "common/plot.h"

enum { BAR_PARTS = 5 };

static const struct gs_bench_result *find(const struct gs_bench_result *results, size_t count,
                                          const struct gs_bench_sample *sample, double scale, const char *mode)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].sample == sample && results[i].scale == scale && strcmp(results[i].mode, mode) == 0)
            return &results[i];
    return NULL;
}

static bool is_multi(const struct gs_bench_result *r)
{
    return strncmp(r->mode, "multi", 5) == 0;
}

/* Strings and numbers of a picture, which live until it is drawn. */
struct rows {
    struct gs_row *row;
    double (*value)[BAR_PARTS];
    char (*label)[96], (*text)[32];
    size_t n;
};

static bool begin_rows(struct rows *r, size_t most)
{
    r->row = calloc(most + 1, sizeof *r->row);
    r->value = calloc(most + 1, sizeof *r->value);
    r->label = calloc(most + 1, sizeof *r->label);
    r->text = calloc(most + 1, sizeof *r->text);
    return r->row && r->value && r->label && r->text;
}

static void end_rows(struct rows *r)
{
    free(r->row);
    free(r->value);
    free(r->label);
    free(r->text);
}

/* ---- bars: where the time goes ---- */

/* The phases of one run, the one in the middle: what is none of them is `other`, and all make up its total. */
static void fill_parts(const struct gs_bench_result *r, double base_ms, double part[BAR_PARTS])
{
    const double *ms = r->run_ms, total = ms[GS_BENCH_TOTAL];
    const double phases = ms[GS_BENCH_WRITE] + ms[GS_BENCH_KERNEL] + ms[GS_BENCH_READ];
    const double unit = 100 / base_ms * (phases > total && phases > 0 ? total / phases : 1);
    const double merge = fmin(r->merge_ms, ms[GS_BENCH_KERNEL]);
    part[0] = ms[GS_BENCH_WRITE] * unit;
    part[1] = (ms[GS_BENCH_KERNEL] - merge) * unit;
    part[2] = merge * unit;
    part[3] = ms[GS_BENCH_READ] * unit;
    part[4] = fmax(0, 100 * total / base_ms - part[0] - part[1] - part[2] - part[3]);
}

/* Each sample's base, and its runs on several devices. */
static void fill_bars(struct rows *rows, const struct gs_bench_result *results, size_t count, const char *base)
{
    const struct gs_bench_result *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *r = &results[i], *b = find(results, count, r->sample, r->scale, base);
        if ((strcmp(r->mode, base) != 0 && !is_multi(r)) || !b || !(b->run_ms[GS_BENCH_TOTAL] > 0))
            continue;
        const bool first = !last || last->sample != r->sample || last->scale != r->scale;
        const size_t n = rows->n++;
        fill_parts(r, b->run_ms[GS_BENCH_TOTAL], rows->value[n]);
        snprintf(rows->text[n], sizeof rows->text[n], "%.4g ms", r->run_ms[GS_BENCH_TOTAL]);
        if (first && r->scale != 1)
            snprintf(rows->label[n], sizeof rows->label[n], r->scale < 1000 ? "%s x%.4g, %s" : "%s x%.0f, %s",
                     r->sample->name, r->scale, r->mode);
        else
            snprintf(rows->label[n], sizeof rows->label[n], "%s%s%s", first ? r->sample->name : "", first ? ", " : "",
                     r->mode);
        rows->row[n] = (struct gs_row){
            .label = rows->label[n], .text = rows->text[n], .value = rows->value[n], .apart = first && last};
        last = r;
    }
}

int gs_bench_draw_bars(FILE *f, const struct gs_bench_result *results, size_t count, const char *base)
{
    static const char *const names[BAR_PARTS] = {"buffer write", "kernel", "merge", "buffer read", "other"};
    struct rows rows = {0};
    char title[128], axis[96];
    const bool ok = begin_rows(&rows, count);
    if (ok)
        fill_bars(&rows, results, count, base);
    snprintf(title, sizeof title, "Where the time goes, beside %s", base);
    snprintf(axis, sizeof axis, "time of an iteration (%% of %s's)", base);
    const struct gs_panel panel = {.kind = GS_PANEL_BARS,
                                   .x.label = axis,
                                   .level_name = base,
                                   .level = 100,
                                   .rows = rows.row,
                                   .n_rows = rows.n,
                                   .names = names,
                                   .n_names = BAR_PARTS};
    const struct gs_chart chart = {.title = title,
                                   .note = "the run in the middle of all runs of its mode; behind each bar its time",
                                   .panels = &panel,
                                   .n = 1,
                                   .columns = 1,
                                   .width = 680};
    if (ok && rows.n)
        gs_chart_write(&chart, f);
    end_rows(&rows);
    return !ok ? -ENOMEM : rows.n ? 0 : -ENODATA;
}

/* ---- speed-ups ---- */

/* The modes on several devices, as they come. */
static size_t find_modes(const struct gs_bench_result *results, size_t count, const char *base,
                         const char *modes[GS_BENCH_MAX_MODES])
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < GS_BENCH_MAX_MODES; i++) {
        bool seen = !is_multi(&results[i]) || strcmp(results[i].mode, base) == 0;
        for (size_t k = 0; k < n; k++)
            seen |= strcmp(modes[k], results[i].mode) == 0;
        if (!seen)
            modes[n++] = results[i].mode;
    }
    return n;
}

/* The places of the first result of each sample. */
static size_t find_samples(const struct gs_bench_result *results, size_t count, size_t *place)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < n && results[place[k]].sample != results[i].sample)
            k++;
        if (k == n)
            place[n++] = i;
    }
    return n;
}

static bool has_sizes(const struct gs_bench_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (results[i].sample == results[j].sample && results[i].scale != results[j].scale)
                return true;
    return false;
}

struct speedups {
    const char *base;
    char label[GS_BENCH_MAX_MODES][2 * GS_BENCH_NAME];
    const char *labels[GS_BENCH_MAX_MODES];
    const char *modes[GS_BENCH_MAX_MODES];
    size_t n_modes, *place, n_samples;
    double *number; /* of all that is shown */
};

/* A row for each sample: the speed-up of each mode, and its spread. */
static void draw_rows(FILE *f, const struct gs_bench_result *results, size_t count, const struct speedups *s,
                      const char *title, struct gs_row *rows)
{
    const size_t m = s->n_modes;
    bool least_sure = true; /* each has an interval */
    int most = 0;           /* runs */
    for (size_t i = 0; i < s->n_samples; i++) {
        const struct gs_bench_result *first = &results[s->place[i]];
        double *value = s->number + i * 3 * m, *low = value + m, *high = low + m;
        for (size_t k = 0; k < m; k++) {
            const struct gs_bench_result *r = find(results, count, first->sample, first->scale, s->modes[k]);
            const bool shown = r && r->speedup > 0, sure = shown && r->interval[1] > 0;
            least_sure &= !shown || sure;
            most = shown && r->runs > most ? r->runs : most;
            value[k] = shown ? r->speedup : NAN;
            low[k] = !shown ? NAN : sure ? r->interval[0] : r->lowest;
            high[k] = !shown ? NAN : sure ? r->interval[1] : r->highest;
        }
        rows[i] = (struct gs_row){.label = first->sample->name, .value = value, .low = low, .high = high};
    }
    const struct gs_panel panel = {.kind = GS_PANEL_DOTS,
                                   .x = {.label = "speed-up (times)", .log = true},
                                   .level_name = "as fast",
                                   .level = 1,
                                   .rows = rows,
                                   .n_rows = s->n_samples,
                                   .names = s->labels,
                                   .n_names = m};
    const struct gs_chart chart = {
        .title = title,
        .note = most == 1    ? "of one run each"
                : least_sure ? "the median, and the interval that holds it with 95 %"
                             : "the median, and the interval that holds it with 95 %; with fewer than "
                               "six runs, from the lowest to the highest",
        .panels = &panel,
        .n = 1,
        .columns = 1,
        .width = 620};
    gs_chart_write(&chart, f);
}

/* A frame for each sample, where it was run in several sizes: speed-ups over the base's time. */
static void draw_curves(FILE *f, const struct gs_bench_result *results, size_t count, const struct speedups *s,
                        const char *title, struct gs_panel *panels, struct gs_curve *curves)
{
    double *number = s->number;
    for (size_t i = 0; i < s->n_samples; i++) {
        const struct gs_bench_sample *sample = results[s->place[i]].sample;
        for (size_t k = 0; k < s->n_modes; k++, number += 4 * count) {
            struct gs_curve *c = &curves[i * s->n_modes + k];
            *c = (struct gs_curve){.name = s->labels[k],
                                   .x = number,
                                   .y = number + count,
                                   .low = number + 2 * count,
                                   .high = number + 3 * count};
            for (size_t j = 0; j < count; j++) {
                const struct gs_bench_result *r = &results[j];
                const struct gs_bench_result *b = find(results, count, sample, r->scale, s->base);
                if (r->sample != sample || strcmp(r->mode, s->modes[k]) != 0 || !b || !(r->speedup > 0))
                    continue;
                number[c->n] = b->ms[GS_BENCH_TOTAL];
                number[count + c->n] = r->speedup;
                number[2 * count + c->n] = r->lowest;
                number[3 * count + c->n++] = r->highest;
            }
        }
        panels[i] = (struct gs_panel){.title = sample->name,
                                      .x = {.label = "time of the base (ms)", .log = true},
                                      .y = {.label = "speed-up (times)", .log = true},
                                      .level_name = "as fast",
                                      .level = 1,
                                      .curves = &curves[i * s->n_modes],
                                      .n_curves = s->n_modes};
    }
    const struct gs_chart chart = {.title = title,
                                   .note = "the median, and from the lowest to the highest of all runs",
                                   .panels = panels,
                                   .n = s->n_samples,
                                   .columns = s->n_samples < 3 ? s->n_samples : 3,
                                   .width = 240,
                                   .height = 160};
    gs_chart_write(&chart, f);
}

int gs_bench_draw_speedups(FILE *f, const struct gs_bench_result *results, size_t count, const char *base)
{
    struct speedups s = {.base = base, .place = calloc(count + 1, sizeof *s.place)};
    char title[128];
    s.n_modes = find_modes(results, count, base, s.modes);
    for (size_t k = 0; k < s.n_modes; k++) {
        const int devices = atoi(s.modes[k] + 5);
        snprintf(s.label[k], sizeof s.label[k], "%d device%s (%s)", devices, devices == 1 ? "" : "s", s.modes[k]);
        s.labels[k] = s.label[k];
    }
    s.n_samples = s.place ? find_samples(results, count, s.place) : 0;
    const size_t all = s.n_samples * s.n_modes;
    s.number = calloc(all * 4 * count + 1, sizeof *s.number);
    struct gs_row *rows = calloc(s.n_samples + 1, sizeof *rows);
    struct gs_panel *panels = calloc(s.n_samples + 1, sizeof *panels);
    struct gs_curve *curves = calloc(all + 1, sizeof *curves);
    const bool ok = s.place && s.number && rows && panels && curves;
    snprintf(title, sizeof title, "Speed-up over %s", base);
    if (ok && all && has_sizes(results, count))
        draw_curves(f, results, count, &s, title, panels, curves);
    else if (ok && all)
        draw_rows(f, results, count, &s, title, rows);
    free(curves);
    free(panels);
    free(rows);
    free(s.number);
    free(s.place);
    return !ok ? -ENOMEM : all ? 0 : -ENODATA;
}

/* ---- files ---- */

typedef int (*draw_function)(FILE *f, const struct gs_bench_result *results, size_t count, const char *base);

static int write_picture(const char *dir, const char *name, draw_function draw, const struct gs_bench_result *results,
                         size_t count, const char *base)
{
    char path[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    int rc = memory ? draw(memory, results, count, base) : -ENOMEM;
    if (memory)
        fclose(memory);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = rc ? NULL : gs_plot_open(path);
    if (f && text) {
        fwrite(text, 1, bytes, f);
        rc = gs_plot_close(f, path);
    }
    free(text);
    return rc == -ENODATA ? 0 : rc;
}

int gs_bench_write_pictures(const char *dir, const struct gs_bench_result *results, size_t count, const char *base)
{
    const int bars = write_picture(dir, "bars.svg", gs_bench_draw_bars, results, count, base);
    const int speedups = write_picture(dir, "speedup.svg", gs_bench_draw_speedups, results, count, base);
    return bars ? bars : speedups;
}
