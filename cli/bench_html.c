/* SPDX-License-Identifier: MIT */
/* gpusparc bench --html: what was measured as one page. */
#include <errno.h>
#include <string.h>

#include "cli/bench.h"
#include "common/page.h"
#include "common/plot.h"

static void write_machine(FILE *f, const char *dir)
{
    char path[4096], text[2048];
    snprintf(path, sizeof path, "%s/environment.json", dir);
    json_t *e = json_load_file(path, 0, NULL), *device;
    size_t i;
    if (json_string_value(json_object_get(e, "cpu")))
        gs_page_text(f, "%s, %lld processors, Linux %s; gpusparc %s, %s", json_string_value(json_object_get(e, "cpu")),
                     (long long)json_integer_value(json_object_get(e, "cpus")),
                     json_string_value(json_object_get(e, "kernel")), json_string_value(json_object_get(e, "gpusparc")),
                     json_string_value(json_object_get(e, "date")));
    if (gs_bench_circumstances(dir, text, sizeof text))
        gs_page_text(f, "%s", text);
    json_array_foreach(json_object_get(json_object_get(json_object_get(e, "devices"), "group"), "devices"), i, device)
    {
        const char *name = json_string_value(json_object_get(device, "name"));
        if (name)
            gs_page_text(f, "Device %zu: %s", i, name);
    }
    json_decref(e);
}

static void write_means(FILE *f, const struct gs_bench_result *results, size_t count, const char *base, double alpha)
{
    static const char *const classes[] = {NULL, "compute", "memory", "irregular", "atomic"};
    gs_page_heading(f, "Geometric means of the speed-ups");
    gs_page_table(f, "mode|programs|#how many|#speed-up|with 95 %");
    for (size_t i = 0; i < count; i++) {
        bool first = strcmp(results[i].mode, base) != 0;
        for (size_t j = 0; j < i; j++)
            first &= strcmp(results[j].mode, results[i].mode) != 0;
        for (size_t c = 0; c < sizeof classes / sizeof *classes && first; c++) {
            const struct gs_bench_mean m = gs_bench_mean(results, count, results[i].mode, classes[c], 0, alpha);
            if (!m.samples)
                continue;
            gs_page_row(f);
            gs_page_cell(f, "%s", results[i].mode);
            gs_page_cell(f, "%s", classes[c] ? classes[c] : "all");
            gs_page_number(f, m.samples, "%d", m.samples);
            if (m.unsure) {
                gs_page_cell(f, "%s", "");
                gs_page_cell(f, "%s", "all are unsure");
                continue;
            }
            gs_page_number(f, m.mean, "%.2f", m.mean);
            if (m.interval[1] > 0)
                gs_page_cell(f, "%.2f to %.2f", m.interval[0], m.interval[1]);
            else
                gs_page_cell(f, "%s", "too few runs");
        }
    }
    gs_page_table_end(f);
}

/* Of the mode that was measured last, which has most devices. */
static void write_conclusion(FILE *f, const struct gs_bench_result *results, size_t count, const char *base,
                             const struct gs_bench_certainty *sure)
{
    const char *mode = NULL;
    int slower = 0, not_slower = 0;
    for (size_t i = 0; i < count; i++)
        mode = strcmp(results[i].mode, base) != 0 ? results[i].mode : mode;
    if (!mode) {
        gs_page_conclusion(f, "Nothing was compared with %s.", base);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        slower += strcmp(results[i].mode, mode) == 0 && results[i].verdict == GS_BENCH_SLOWER;
        not_slower += strcmp(results[i].mode, mode) == 0 && results[i].verdict == GS_BENCH_NOT_SLOWER;
    }
    const struct gs_bench_mean m = gs_bench_mean(results, count, mode, NULL, 0, sure->alpha);
    if (m.unsure || !m.samples)
        gs_page_conclusion(f, "Of no sample is it sure whether %s is faster or slower than %s: more runs say more.",
                           mode, base);
    else if (m.interval[1] > 0)
        gs_page_conclusion(
            f, "%s is %.2f times as fast as %s in the mean of %d (%.2f to %.2f); slower in %d, not slower in %d.", mode,
            m.mean, base, m.samples, m.interval[0], m.interval[1], slower, not_slower);
    else
        gs_page_conclusion(f, "%s is %.2f times as fast as %s in the mean of %d; slower in %d, not slower in %d.", mode,
                           m.mean, base, m.samples, slower, not_slower);
}

static double value_of(const json_t *r, const char *name)
{
    return json_number_value(json_object_get(r, name));
}

static void write_results(FILE *f, const json_t *all)
{
    static const char *const times[] = {"write_ms", "kernel_ms", "merge_ms", "read_ms", "total_ms"};
    json_t *r;
    size_t i;
    gs_page_heading(f, "All results");
    gs_page_table(f, "sample|class|#scale|mode|#runs|#write, ms|#kernel, ms|#merge, ms|#read, ms|#total, "
                     "ms|#speed-up|#lowest|#highest|verdict|result");
    json_array_foreach(json_object_get(all, "results"), i, r)
    {
        const char *verdict = json_string_value(json_object_get(r, "verdict"));
        gs_page_row(f);
        gs_page_cell(f, "%s", json_string_value(json_object_get(r, "sample")));
        gs_page_cell(f, "%s", json_string_value(json_object_get(r, "class")));
        gs_page_number(f, value_of(r, "scale"), "%.4g", value_of(r, "scale"));
        gs_page_cell(f, "%s", json_string_value(json_object_get(r, "mode")));
        gs_page_number(f, value_of(r, "runs"), "%.0f", value_of(r, "runs"));
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            gs_page_number(f, value_of(r, times[k]), "%.3f", value_of(r, times[k]));
        gs_page_number(f, value_of(r, "speedup"), "%.2f", value_of(r, "speedup"));
        gs_page_number(f, value_of(r, "speedup_low"), "%.2f", value_of(r, "speedup_low"));
        gs_page_number(f, value_of(r, "speedup_high"), "%.2f", value_of(r, "speedup_high"));
        gs_page_cell(f, "%s", verdict ? verdict : "");
        gs_page_cell(f, "%s", json_string_value(json_object_get(r, "result")));
    }
    gs_page_table_end(f);
}

static void write_reasons(FILE *f, const json_t *all)
{
    json_t *r, *kernel, *reason;
    size_t i, j, k;
    gs_page_heading(f, "Launches that were not split, and why");
    gs_page_table(f, "sample|mode|kernel|#launches|#not split|why");
    json_array_foreach(json_object_get(all, "results"), i, r)
    {
        const char *mode = json_string_value(json_object_get(r, "mode"));
        if (strncmp(mode, "multi", 5) != 0)
            continue;
        json_array_foreach(json_object_get(json_object_get(r, "stats"), "kernels"), j, kernel)
        {
            json_array_foreach(json_object_get(kernel, "reasons"), k, reason)
            {
                gs_page_row(f);
                gs_page_cell(f, "%s", json_string_value(json_object_get(r, "sample")));
                gs_page_cell(f, "%s", mode);
                gs_page_cell(f, "%s", json_string_value(json_object_get(kernel, "name")));
                gs_page_number(f, value_of(kernel, "launches"), "%.0f", value_of(kernel, "launches"));
                gs_page_number(f, value_of(reason, "count"), "%.0f", value_of(reason, "count"));
                gs_page_cell(f, "%s", json_string_value(json_object_get(reason, "reason")));
            }
        }
    }
    gs_page_table_end(f);
}

static void write_picture(FILE *f, const char *heading,
                          int (*draw)(FILE *, const struct gs_bench_result *, size_t, const char *),
                          const struct gs_bench_result *results, size_t count, const char *base)
{
    gs_page_heading(f, heading);
    gs_page_picture(f);
    if (draw(f, results, count, base))
        gs_page_text(f, "There is nothing to draw.");
    gs_page_picture_end(f);
}

int gs_bench_write_html(const char *path, const char *dir, const struct gs_bench_result *results, size_t count,
                        const char *base, const struct gs_bench_certainty *sure)
{
    FILE *f = gs_plot_open(path);
    if (!f)
        return -EIO;
    json_t *all = gs_bench_json(results, count, base, sure);
    gs_page_begin(f, "gpusparc bench: the samples on one device against several");
    write_conclusion(f, results, count, base, sure);
    write_machine(f, dir);
    write_means(f, results, count, base, sure->alpha);
    write_picture(f, "Speed-ups", gs_bench_draw_speedups, results, count, base);
    write_picture(f, "Where the time goes", gs_bench_draw_bars, results, count, base);
    write_results(f, all);
    write_reasons(f, all);
    gs_page_end(f);
    json_decref(all);
    return gs_plot_close(f, path);
}
