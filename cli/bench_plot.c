/* SPDX-License-Identifier: MIT */
/* gpusparc bench: the pictures, drawn by gnuplot. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "cli/bench.h"
#include "common/log.h"

static FILE *create(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f)
        gs_error("%s can't be written: %s", path, strerror(errno));
    return f;
}

static const struct gs_bench_result *find(const struct gs_bench_result *results, size_t count,
                                          const struct gs_bench_sample *sample, double scale, const char *mode)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].sample == sample && results[i].scale == scale && strcmp(results[i].mode, mode) == 0)
            return &results[i];
    return NULL;
}

static bool is_shown(const struct gs_bench_result *r, const char *base)
{
    return strcmp(r->mode, base) == 0 || strncmp(r->mode, "multi", 5) == 0;
}

/* Each bar's phases, in hundredths of the base's total: label, write, kernel without merging, merging, read. */
static size_t write_bars(FILE *f, const struct gs_bench_result *results, size_t count, const char *base)
{
    const struct gs_bench_sample *last = NULL;
    size_t bars = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *r = &results[i];
        const struct gs_bench_result *b = find(results, count, r->sample, r->scale, base);
        if (!is_shown(r, base) || !b || b->ms[GS_BENCH_TOTAL] <= 0)
            continue;
        const double unit = b->ms[GS_BENCH_TOTAL] / 100;
        if (last && last != r->sample) {
            fputs("\"\" 0 0 0 0\n", f);
            bars++;
        }
        last = r->sample;
        const double merge = fmin(r->merge_ms, r->ms[GS_BENCH_KERNEL]);
        fprintf(f, "\"%s, %s\" %.4f %.4f %.4f %.4f\n", r->sample->name, r->mode, r->ms[GS_BENCH_WRITE] / unit,
                (r->ms[GS_BENCH_KERNEL] - merge) / unit, merge / unit, r->ms[GS_BENCH_READ] / unit);
        bars++;
    }
    return bars;
}

/* One block for each sample and mode: the base's total and the speed-up with its spread; the key's texts go to
 * `names`. */
static int write_curves(FILE *f, FILE *names, const struct gs_bench_result *results, size_t count, const char *base)
{
    int curves = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *first = &results[i];
        bool seen = strcmp(first->mode, base) == 0 || strncmp(first->mode, "multi", 5) != 0;
        for (size_t j = 0; j < i; j++)
            seen |= results[j].sample == first->sample && strcmp(results[j].mode, first->mode) == 0;
        if (seen)
            continue;
        for (size_t j = i; j < count; j++) {
            const struct gs_bench_result *r = &results[j];
            const struct gs_bench_result *b = find(results, count, r->sample, r->scale, base);
            if (r->sample == first->sample && strcmp(r->mode, first->mode) == 0 && b && r->speedup > 0)
                fprintf(f, "%.6g %.4f %.4f %.4f\n", b->ms[GS_BENCH_TOTAL], r->speedup, r->lowest, r->highest);
        }
        fputs("\n\n", f);
        fprintf(names, "%s'speedup.dat' index %d using 1:2:3:4 with yerrorlines title '%s, %s'",
                curves ? ", \\\n     " : "plot ", curves, first->sample->name, first->mode);
        curves++;
    }
    fputc('\n', names);
    return curves;
}

static int draw(const char *dir, const char *script)
{
    struct gs_bench_words words = {0};
    struct gs_bench_end end;
    gs_bench_add(&words, "gnuplot");
    gs_bench_add(&words, "-e");
    gs_bench_add(&words, "cd '%s'; load '%s'", dir, script);
    const int status = gs_bench_execute(&words, 60, &end);
    gs_bench_free_words(&words);
    if (status == -ENOENT)
        gs_warn("gnuplot is not installed; %s/%s draws the picture where it is", dir, script);
    else if (status)
        gs_warn("gnuplot could not draw %s/%s: %s", dir, script, end.error);
    return status ? -EIO : 0;
}

static int draw_bars(const char *dir, const struct gs_bench_result *results, size_t count, const char *base)
{
    FILE *data = create(dir, "bars.dat"), *script = data ? create(dir, "bars.gp") : NULL;
    size_t bars = 0;
    if (script) {
        bars = write_bars(data, results, count, base);
        fprintf(script,
                "set terminal svg size %zu,620 background 'white' font 'sans,11'\nset output 'bars.svg'\n"
                "set style data histograms\nset style histogram rowstacked\nset style fill solid 0.9 border -1\n"
                "set boxwidth 0.8\nset ylabel 'time, %% of %s'\nset yrange [0:*]\nset grid ytics\n"
                "set xtics rotate by -60\nset key outside top horizontal\n"
                "plot 'bars.dat' using 2:xtic(1) title 'buffer write', '' using 3 title 'kernel', "
                "'' using 4 title 'merge', '' using 5 title 'buffer read'\n",
                200 + 16 * bars, base);
        fclose(script);
    }
    if (data)
        fclose(data);
    return !script ? -EIO : (bars ? draw(dir, "bars.gp") : 0);
}

static int draw_curves(const char *dir, const struct gs_bench_result *results, size_t count, const char *base)
{
    FILE *data = create(dir, "speedup.dat"), *script = data ? create(dir, "speedup.gp") : NULL;
    int curves = 0;
    if (script) {
        fprintf(script,
                "set terminal svg size 1100,700 background 'white' font 'sans,11'\nset output 'speedup.svg'\n"
                "set logscale x\nset xlabel 'time of %s, ms'\nset ylabel 'speed-up over %s'\nset yrange [0:*]\n"
                "set grid\nset key outside right font ',9'\nset arrow from graph 0, first 1 to graph 1, first 1 nohead "
                "dashtype 2\n",
                base, base);
        curves = write_curves(data, script, results, count, base);
        fclose(script);
    }
    if (data)
        fclose(data);
    return !script ? -EIO : (curves ? draw(dir, "speedup.gp") : 0);
}

int gs_bench_write_pictures(const char *dir, const struct gs_bench_result *results, size_t count, const char *base)
{
    const int bars = draw_bars(dir, results, count, base), curves = draw_curves(dir, results, count, base);
    return bars ? bars : curves;
}
