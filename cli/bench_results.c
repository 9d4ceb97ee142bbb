/* SPDX-License-Identifier: MIT */
/* gpusparc bench: from the runs to one result for each sample, scale and mode; as a table, JSON and CSV. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/bench_interval.h"
#include "common/log.h"
#include "common/stream.h"

/* The paper calls programs compute-intensive that spend 88.5 % of their time and more in kernels (section III-C). */
#define MOSTLY_KERNEL 0.885

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values; 0 if there are none. */
static double median(double *values, size_t n)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof(*values), by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Fills `values` with one phase of all runs of a mode; returns how many. */
static size_t collect(const struct gs_bench_store *store, const struct gs_bench_result *r, const char *mode, int phase,
                      double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < store->count; i++) {
        const struct gs_bench_row *row = &store->rows[i];
        if (strcmp(row->sample, r->sample->name) == 0 && row->scale == r->scale && strcmp(row->mode, mode) == 0)
            values[n++] = row->ms[phase];
    }
    return n;
}

/* The phases of the run whose total is in the middle: they make up that total, as medians of each don't. */
static void fill_run(const struct gs_bench_store *store, struct gs_bench_result *r)
{
    double least = -1;
    for (size_t i = 0; i < store->count; i++) {
        const struct gs_bench_row *row = &store->rows[i];
        const double off = fabs(row->ms[GS_BENCH_TOTAL] - r->ms[GS_BENCH_TOTAL]);
        if (strcmp(row->sample, r->sample->name) != 0 || row->scale != r->scale || strcmp(row->mode, r->mode) != 0 ||
            (least >= 0 && off >= least))
            continue;
        least = off;
        memcpy(r->run_ms, row->ms, sizeof r->run_ms);
    }
}

static enum gs_bench_verdict judge(const struct gs_bench_result *r, double limit)
{
    if (r->interval[0] > 0 && r->interval[0] >= limit)
        return GS_BENCH_NOT_SLOWER;
    return r->interval[1] > 0 && r->interval[1] < limit ? GS_BENCH_SLOWER : GS_BENCH_UNSURE;
}

static void fill_times(const struct gs_bench_store *store, struct gs_bench_result *r, const char *base,
                       const struct gs_bench_certainty *sure, double *scratch)
{
    for (int phase = 0; phase < GS_BENCH_PHASES; phase++) {
        const size_t runs = collect(store, r, r->mode, phase, scratch);
        r->runs = (int)runs;
        r->ms[phase] = median(scratch, runs);
    }
    fill_run(store, r);
    const double base_kernel = median(scratch, collect(store, r, base, GS_BENCH_KERNEL, scratch));
    const double base_total = median(scratch, collect(store, r, base, GS_BENCH_TOTAL, scratch));
    r->base_kernel_share = base_total > 0 ? base_kernel / base_total : 0;
    size_t n = 0;
    for (size_t i = 0; i < store->count; i++) {
        const struct gs_bench_row *row = &store->rows[i];
        if (strcmp(row->sample, r->sample->name) != 0 || row->scale != r->scale || strcmp(row->mode, r->mode) != 0)
            continue;
        const struct gs_bench_row *other = gs_bench_find_row(store, row->sample, row->scale, base, row->run);
        if (!other || !(row->ms[GS_BENCH_TOTAL] > 0))
            continue;
        scratch[n] = other->ms[GS_BENCH_TOTAL] / row->ms[GS_BENCH_TOTAL];
        if (row->run > 0 && row->run <= GS_INTERVAL_MOST)
            r->ratio[row->run - 1] = scratch[n];
        n++;
    }
    r->speedup = median(scratch, n);
    r->lowest = n ? scratch[0] : 0;
    r->highest = n ? scratch[n - 1] : 0;
    if (strcmp(r->mode, base) == 0 || !n)
        return;
    if (r->lowest <= 0 || !gs_interval(scratch, n, sure->alpha, &r->interval[0], &r->interval[1]))
        r->interval[0] = r->interval[1] = 0;
    r->verdict = judge(r, sure->limit);
}

static void fill_check(const struct gs_bench_store *store, struct gs_bench_result *r)
{
    json_t *kernel;
    size_t i;
    r->check = gs_bench_find_check(store, r->sample->name, r->scale, r->mode);
    const json_t *stats = json_object_get(r->check, "stats");
    r->merge_ms = json_number_value(json_object_get(r->check, "merge_ms"));
    json_array_foreach(json_object_get(stats, "kernels"), i, kernel)
    {
        r->launches += (long)json_integer_value(json_object_get(kernel, "launches"));
        r->split += (long)json_integer_value(json_object_get(kernel, "split"));
    }
}

static const struct gs_bench_sample *find_sample(const struct gs_bench_sample *samples, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    return NULL;
}

static bool is_there(const struct gs_bench_result *results, size_t n, const struct gs_bench_row *row)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(results[i].sample->name, row->sample) == 0 && results[i].scale == row->scale &&
            strcmp(results[i].mode, row->mode) == 0)
            return true;
    return false;
}

int gs_bench_result(const struct gs_bench_store *store, const struct gs_bench_sample *sample, double scale,
                    const char *mode, const char *base, const struct gs_bench_certainty *sure,
                    struct gs_bench_result *result)
{
    double *scratch = calloc(store->count + 1, sizeof(*scratch));
    *result = (struct gs_bench_result){.sample = sample, .scale = scale, .mode = mode};
    if (!scratch)
        return -ENOMEM;
    fill_times(store, result, base, sure, scratch);
    fill_check(store, result);
    free(scratch);
    return 0;
}

int gs_bench_results(const struct gs_bench_store *store, const struct gs_bench_sample *samples, size_t sample_count,
                     const char *base, const struct gs_bench_certainty *sure, struct gs_bench_result **results,
                     size_t *count)
{
    int err = 0;
    *results = calloc(store->count + 1, sizeof(**results));
    *count = 0;
    if (!*results)
        return -ENOMEM;
    for (size_t i = 0; i < store->count && !err; i++) {
        const struct gs_bench_row *row = &store->rows[i];
        const struct gs_bench_sample *sample = find_sample(samples, sample_count, row->sample);
        if (!sample || is_there(*results, *count, row))
            continue;
        err = gs_bench_result(store, sample, row->scale, row->mode, base, sure, &(*results)[(*count)++]);
    }
    if (err) {
        free(*results);
        *results = NULL;
        *count = 0;
    }
    return err;
}

static bool is_asked(const struct gs_bench_result *r, const char *mode, const char *class, double kernel_share)
{
    return strcmp(r->mode, mode) == 0 && r->speedup > 0 && r->base_kernel_share >= kernel_share &&
           (!class || strcmp(r->sample->class, class) == 0);
}

struct gs_bench_mean gs_bench_mean(const struct gs_bench_result *results, size_t count, const char *mode,
                                   const char *class, double kernel_share, double alpha)
{
    struct gs_bench_mean m = {.unsure = true};
    double sum = 0, run[GS_INTERVAL_MOST];
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        if (is_asked(&results[i], mode, class, kernel_share)) {
            sum += log(results[i].speedup);
            m.unsure &= results[i].verdict == GS_BENCH_UNSURE || results[i].verdict == GS_BENCH_NONE;
            m.samples++;
        }
    if (!m.samples)
        return (struct gs_bench_mean){0};
    m.mean = exp(sum / m.samples);
    for (size_t k = 0; k < GS_INTERVAL_MOST; k++) {
        bool whole = true;
        sum = 0;
        for (size_t i = 0; i < count && whole; i++)
            if (is_asked(&results[i], mode, class, kernel_share)) {
                whole = results[i].ratio[k] > 0;
                sum += whole ? log(results[i].ratio[k]) : 0;
            }
        if (whole)
            run[runs++] = exp(sum / m.samples);
    }
    if (!gs_interval(run, runs, alpha, &m.interval[0], &m.interval[1]))
        m.interval[0] = m.interval[1] = 0;
    return m;
}

static const char *outcome(const struct gs_bench_result *r)
{
    const char *text = json_string_value(json_object_get(r->check, "outcome"));
    return text ? text : "unchecked";
}

/* Over how many iterations the statistics were taken. */
static double counted_iterations(const struct gs_bench_result *r)
{
    return fmax(1, json_number_value(json_object_get(r->check, "iterations")));
}

/* Bytes an iteration that the application didn't ask to have moved: between devices, and for merging. */
static double moved_bytes(const struct gs_bench_result *r)
{
    const char *path;
    json_t *moved;
    double sum = 0;
    json_object_foreach(json_object_get(json_object_get(r->check, "stats"), "bytes"), path, moved)
    {
        if (strncmp(path, "app_", 4) != 0 && strcmp(path, "direct") != 0 && strcmp(path, "staged") != 0)
            sum += json_number_value(json_object_get(moved, "bytes"));
    }
    return sum / counted_iterations(r);
}

static void print_reasons(FILE *out, const struct gs_bench_result *r)
{
    json_t *kernel, *reason;
    size_t i, j;
    json_array_foreach(json_object_get(json_object_get(r->check, "stats"), "kernels"), i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "reasons"), j, reason)
        {
            fprintf(out, "  %s, %s: %s: %s (%lld of %lld launches)\n", r->sample->name, r->mode,
                    json_string_value(json_object_get(kernel, "name")),
                    json_string_value(json_object_get(reason, "reason")),
                    (long long)json_integer_value(json_object_get(reason, "count")),
                    (long long)json_integer_value(json_object_get(kernel, "launches")));
        }
    }
}

static bool is_multi(const char *mode)
{
    return strncmp(mode, "multi", 5) == 0;
}

static void print_mean(FILE *out, const char *before, const struct gs_bench_mean *m)
{
    fprintf(out, "%s %.2f", before, m->mean);
    if (m->interval[1] > 0)
        fprintf(out, " (%.2f to %.2f)", m->interval[0], m->interval[1]);
}

/* What would be a number that nobody can lean on is left out. */
static void print_means_of(FILE *out, const struct gs_bench_result *results, size_t count, const char *mode,
                           const char *base, double alpha)
{
    static const char *const classes[] = {"all", "compute", "memory", "irregular", "atomic"};
    const struct gs_bench_mean all = gs_bench_mean(results, count, mode, NULL, 0, alpha);
    if (!all.samples)
        return;
    if (all.unsure) {
        fprintf(out, "No mean of %s over %s: no speed-up is sure (more --runs, or --until-sure).\n", mode, base);
        return;
    }
    fprintf(out, "Geometric mean of the speed-ups of %s over %s:", mode, base);
    for (size_t c = 0; c < sizeof(classes) / sizeof(*classes); c++) {
        const struct gs_bench_mean m = gs_bench_mean(results, count, mode, c ? classes[c] : NULL, 0, alpha);
        if (m.samples && !m.unsure) {
            fputs(c ? ", " : " ", out);
            print_mean(out, classes[c], &m);
        }
    }
    const struct gs_bench_mean m = gs_bench_mean(results, count, mode, NULL, MOSTLY_KERNEL, alpha);
    if (m.samples && !m.unsure) {
        fprintf(out, "; where kernels take at least %.1f %% of the time of %s:", MOSTLY_KERNEL * 100, base);
        print_mean(out, "", &m);
    }
    fputc('\n', out);
}

static void print_means(FILE *out, const struct gs_bench_result *results, size_t count, const char *base, double alpha)
{
    for (size_t i = 0; i < count; i++) {
        bool first = strcmp(results[i].mode, base) != 0;
        for (size_t j = 0; j < i; j++)
            first &= strcmp(results[j].mode, results[i].mode) != 0;
        if (first)
            print_means_of(out, results, count, results[i].mode, base, alpha);
    }
}

static const char *const verdicts[] = {"", "unsure", "slower", "not slower"};

static void print_certainty(FILE *out, const struct gs_bench_result *results, size_t count, const char *base,
                            const struct gs_bench_certainty *sure)
{
    int n[sizeof(verdicts) / sizeof(*verdicts)] = {0};
    for (size_t i = 0; i < count; i++)
        n[results[i].verdict]++;
    if (n[GS_BENCH_SLOWER] || n[GS_BENCH_NOT_SLOWER])
        fprintf(out,
                "Slower than %.4g times %s: %d; not slower: %d; unsure: %d. Each interval holds the speed-up but for a "
                "probability of %.3g.\n",
                sure->limit, base, n[GS_BENCH_SLOWER], n[GS_BENCH_NOT_SLOWER], n[GS_BENCH_UNSURE], sure->alpha);
}

void gs_bench_print_table(FILE *out, const struct gs_bench_result *results, size_t count, const char *base,
                          const struct gs_bench_certainty *sure)
{
    bool reasons = false;
    fprintf(out, "%-18s %-9s %8s %-8s %9s %9s %9s %9s %9s  %8s %-13s %-13s %-10s %11s %9s  %s\n", "sample", "class",
            "scale", "mode", "write ms", "kernel ms", "merge ms", "read ms", "total ms", "speed-up", "[low high]",
            "interval", "verdict", "split", "moved MB", "result");
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *r = &results[i];
        char split[32] = "", spread[48] = "", moved[32] = "", merge[32] = "", interval[48] = "";
        if (r->launches)
            snprintf(split, sizeof(split), "%ld/%ld", r->split, r->launches);
        if (r->speedup > 0)
            snprintf(spread, sizeof(spread), "[%.2f %.2f]", r->lowest, r->highest);
        if (r->interval[1] > 0)
            snprintf(interval, sizeof(interval), "%.3f-%.3f", r->interval[0], r->interval[1]);
        if (is_multi(r->mode) && r->check)
            snprintf(moved, sizeof(moved), "%.1f", moved_bytes(r) * 1e-6);
        if (r->merge_ms > 0)
            snprintf(merge, sizeof(merge), "%.3f", r->merge_ms);
        fprintf(out, "%-18s %-9s %8.4g %-8s %9.3f %9.3f %9s %9.3f %9.3f  %8.2f %-13s %-13s %-10s %11s %9s  %s\n",
                r->sample->name, r->sample->class, r->scale, r->mode, r->ms[GS_BENCH_WRITE], r->ms[GS_BENCH_KERNEL],
                merge, r->ms[GS_BENCH_READ], r->ms[GS_BENCH_TOTAL], r->speedup, spread, interval, verdicts[r->verdict],
                split, moved, outcome(r));
        reasons |= is_multi(r->mode) && r->split < r->launches;
    }
    print_means(out, results, count, base, sure->alpha);
    print_certainty(out, results, count, base, sure);
    if (reasons)
        fputs("Launches that were not split:\n", out);
    for (size_t i = 0; i < count; i++)
        if (is_multi(results[i].mode))
            print_reasons(out, &results[i]);
}

/* null, or where it lies. */
static json_t *interval_json(const struct gs_bench_result *r)
{
    return r->interval[1] > 0 ? json_pack("[f, f]", r->interval[0], r->interval[1]) : json_null();
}

json_t *gs_bench_json(const struct gs_bench_result *results, size_t count, const char *base,
                      const struct gs_bench_certainty *sure)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *r = &results[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:s*, s:s, s:O*}",
                            "sample", r->sample->name, "class", r->sample->class, "scale", r->scale, "mode", r->mode,
                            "runs", r->runs, "write_ms", r->ms[GS_BENCH_WRITE], "kernel_ms", r->ms[GS_BENCH_KERNEL],
                            "read_ms", r->ms[GS_BENCH_READ], "total_ms", r->ms[GS_BENCH_TOTAL], "merge_ms", r->merge_ms,
                            "speedup", r->speedup, "speedup_low", r->lowest, "speedup_high", r->highest, "interval",
                            interval_json(r), "verdict", r->verdict ? verdicts[r->verdict] : NULL, "result", outcome(r),
                            "stats", json_object_get(r->check, "stats")));
    }
    return json_pack("{s:s, s:f, s:f, s:o}", "base", base, "limit", sure->limit, "miss_probability", sure->alpha,
                     "results", list);
}

/* The names of all paths by which bytes moved, over all results; the caller releases the object. */
static json_t *all_paths(const struct gs_bench_result *results, size_t count)
{
    json_t *paths = json_object(), *moved;
    const char *path;
    for (size_t i = 0; i < count; i++) {
        json_object_foreach(json_object_get(json_object_get(results[i].check, "stats"), "bytes"), path, moved)
            json_object_set_new(paths, path, json_null());
    }
    return paths;
}

int gs_bench_write_csv(const char *dir, const struct gs_bench_result *results, size_t count)
{
    char file[PATH_MAX];
    snprintf(file, sizeof(file), "%s/summary.csv", dir);
    FILE *f = fopen(file, "w");
    if (!f) {
        gs_error("%s can't be written: %s", file, strerror(errno));
        return -EIO;
    }
    json_t *paths = all_paths(results, count), *unused;
    const char *path;
    fputs("sample,class,scale,mode,runs,write_ms,kernel_ms,read_ms,merge_ms,total_ms,speedup,speedup_low,speedup_high,"
          "launches,split,result,interval_low,interval_high,verdict",
          f);
    json_object_foreach(paths, path, unused) fprintf(f, ",bytes_%s", path);
    fputc('\n', f);
    for (size_t i = 0; i < count; i++) {
        const struct gs_bench_result *r = &results[i];
        fprintf(f, "%s,%s,%.9g,%s,%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%ld,%ld,%s", r->sample->name,
                r->sample->class, r->scale, r->mode, r->runs, r->ms[GS_BENCH_WRITE], r->ms[GS_BENCH_KERNEL],
                r->ms[GS_BENCH_READ], r->merge_ms, r->ms[GS_BENCH_TOTAL], r->speedup, r->lowest, r->highest,
                r->launches, r->split, outcome(r));
        if (r->interval[1] > 0)
            fprintf(f, ",%.4f,%.4f,%s", r->interval[0], r->interval[1], verdicts[r->verdict]);
        else
            fprintf(f, ",,,%s", verdicts[r->verdict]);
        const json_t *bytes = json_object_get(json_object_get(r->check, "stats"), "bytes");
        json_object_foreach(paths, path, unused)
            fprintf(f, ",%.0f",
                    json_number_value(json_object_get(json_object_get(bytes, path), "bytes")) / counted_iterations(r));
        fputc('\n', f);
    }
    const int err = gs_close_written(f);
    json_decref(paths);
    if (err)
        gs_error("%s can't be written: %s", file, strerror(-err));
    return err;
}
