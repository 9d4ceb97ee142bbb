/* SPDX-License-Identifier: MIT */
/* gpusparc bench: keeps every run in a folder as soon as it has ended, so that an interrupted bench can go on. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bench.h"
#include "common/json_file.h"
#include "common/log.h"

static const char header[] = "sample,scale,mode,run,write_ms,kernel_ms,read_ms,total_ms\n";

static void path_in(const struct gs_bench_store *store, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", store->dir, name);
}

static int keep_row(struct gs_bench_store *store, const struct gs_bench_row *row)
{
    struct gs_bench_row *more = realloc(store->rows, (store->count + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    more[store->count++] = *row;
    store->rows = more;
    return 0;
}

static bool same_scale(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

const struct gs_bench_row *gs_bench_find_row(const struct gs_bench_store *store, const char *sample, double scale,
                                             const char *mode, int run)
{
    for (size_t i = 0; i < store->count; i++) {
        const struct gs_bench_row *r = &store->rows[i];
        if (strcmp(r->sample, sample) == 0 && same_scale(r->scale, scale) && strcmp(r->mode, mode) == 0 &&
            r->run == run)
            return r;
    }
    return NULL;
}

json_t *gs_bench_find_check(const struct gs_bench_store *store, const char *sample, double scale, const char *mode)
{
    json_t *check;
    size_t i;
    json_array_foreach(store->checks, i, check)
    {
        if (strcmp(json_string_value(json_object_get(check, "sample")), sample) == 0 &&
            same_scale(json_number_value(json_object_get(check, "scale")), scale) &&
            strcmp(json_string_value(json_object_get(check, "mode")), mode) == 0)
            return check;
    }
    return NULL;
}

/* A line that was cut off when the bench ended is left out; where `repair` is set, from the file, too. */
static int read_rows(struct gs_bench_store *store, const char *path, bool repair)
{
    FILE *f = fopen(path, repair ? "r+" : "r");
    char line[512];
    long good = 0;
    int err = 0;
    if (!f)
        return errno == ENOENT ? 0 : -errno;
    if (!fgets(line, sizeof(line), f) || strcmp(line, header) != 0)
        err = -EINVAL;
    good = ftell(f);
    while (err == 0 && fgets(line, sizeof(line), f)) {
        struct gs_bench_row r;
        char end;
        if (sscanf(line, "%31[^,],%lf,%31[^,],%d,%lf,%lf,%lf,%lf%c", r.sample, &r.scale, r.mode, &r.run,
                   &r.ms[GS_BENCH_WRITE], &r.ms[GS_BENCH_KERNEL], &r.ms[GS_BENCH_READ], &r.ms[GS_BENCH_TOTAL],
                   &end) != 9 ||
            end != '\n')
            break;
        err = keep_row(store, &r);
        good = ftell(f);
    }
    if (err == 0 && repair && ftruncate(fileno(f), good) < 0)
        err = -errno;
    fclose(f);
    return err;
}

static bool check_is_whole(const json_t *check)
{
    return json_is_string(json_object_get(check, "sample")) && json_is_number(json_object_get(check, "scale")) &&
           json_is_string(json_object_get(check, "mode")) && json_is_string(json_object_get(check, "outcome"));
}

static int read_checks(struct gs_bench_store *store, const char *path)
{
    if (access(path, F_OK) != 0)
        return 0;
    json_t *old = gs_json_load(path, GS_FILE_RESULT, 0, NULL), *check;
    size_t i;
    int err = json_is_array(old) ? 0 : -EINVAL;
    json_array_foreach(old, i, check) err = check_is_whole(check) ? err : -EINVAL;
    if (err) {
        json_decref(old);
        return err;
    }
    json_decref(store->checks);
    store->checks = old;
    return 0;
}

/* Rows of other settings must not stand beside each other. */
static int compare_settings(const struct gs_bench_store *store, const json_t *settings, const char *path)
{
    json_t *old = gs_json_load(path, GS_FILE_RESULT, 0, NULL);
    const bool same = json_equal(old, settings);
    json_decref(old);
    if (same)
        return 0;
    gs_error("%s was measured with other settings, which are in %s; give the same ones or another --output", store->dir,
             path);
    return -EINVAL;
}

static int read_results(struct gs_bench_store *store, bool repair)
{
    char path[PATH_MAX];
    path_in(store, "runs.csv", path);
    int err = read_rows(store, path, repair);
    if (err == 0) {
        path_in(store, "checks.json", path);
        err = read_checks(store, path);
    }
    if (err)
        gs_error("%s can't be read: %s; give another --output", path, strerror(-err));
    return err;
}

int gs_bench_open_store(struct gs_bench_store *store, const char *dir, bool resume, const json_t *settings)
{
    char path[PATH_MAX], runs[PATH_MAX];
    int err = 0;
    *store = (struct gs_bench_store){.dir = dir, .checks = json_array()};
    if (!store->checks)
        return -ENOMEM;
    if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
        err = -errno;
        gs_error("the folder %s can't be made: %s", dir, strerror(errno));
        return err;
    }
    path_in(store, "settings.json", path);
    path_in(store, "runs.csv", runs);
    const bool there = access(runs, F_OK) == 0;
    if (there != (access(path, F_OK) == 0)) {
        gs_error("%s has a %s, but no %s beside it: it isn't of gpusparc bench; give another --output", dir,
                 there ? "runs.csv" : "settings.json", there ? "settings.json" : "runs.csv");
        return -EEXIST;
    }
    if (there && !resume) {
        gs_error("%s holds results already; give --resume to go on with them, or another --output", dir);
        return -EEXIST;
    }
    if (there && ((err = compare_settings(store, settings, path)) || (err = read_results(store, true))))
        return err;
    errno = 0;
    if (!there && json_dump_file(settings, path, JSON_INDENT(2)) < 0)
        err = errno ? -errno : -EIO;
    store->file = err ? NULL : fopen(runs, there ? "a" : "w");
    if (store->file && !there && (fputs(header, store->file) < 0 || fflush(store->file) != 0))
        err = -errno;
    if (!store->file || err) {
        err = err ? err : -errno;
        gs_error("%s can't be written to: %s", dir, strerror(-err));
    }
    return err;
}

json_t *gs_bench_open_report(struct gs_bench_store *store, const char *dir)
{
    char path[PATH_MAX], runs[PATH_MAX];
    *store = (struct gs_bench_store){.dir = dir, .checks = json_array()};
    path_in(store, "settings.json", path);
    path_in(store, "runs.csv", runs);
    if (access(runs, R_OK) != 0 || access(path, R_OK) != 0) {
        gs_error("%s holds no results of gpusparc bench that can be read: %s", dir, strerror(errno));
        return NULL;
    }
    json_t *settings = gs_json_load(path, GS_FILE_RESULT, 0, NULL);
    if (!json_is_object(settings))
        gs_error("%s can't be read: it holds no settings", path);
    else if (read_results(store, false) == 0)
        return settings;
    json_decref(settings);
    return NULL;
}

int gs_bench_read_runs(struct gs_bench_store *store, const char *dir)
{
    char path[PATH_MAX];
    *store = (struct gs_bench_store){.dir = dir};
    path_in(store, "runs.csv", path);
    const int err = access(path, R_OK) == 0 ? read_rows(store, path, false) : -errno;
    if (err)
        gs_error("%s can't be read: %s", path, strerror(-err));
    return err;
}

int gs_bench_add_row(struct gs_bench_store *store, const struct gs_bench_row *row)
{
    if (fprintf(store->file, "%s,%.17g,%s,%d,%.4f,%.4f,%.4f,%.4f\n", row->sample, row->scale, row->mode, row->run,
                row->ms[GS_BENCH_WRITE], row->ms[GS_BENCH_KERNEL], row->ms[GS_BENCH_READ],
                row->ms[GS_BENCH_TOTAL]) < 0 ||
        fflush(store->file) != 0) {
        gs_error("%s/runs.csv can't be written: %s", store->dir, strerror(errno));
        return -EIO;
    }
    return keep_row(store, row);
}

int gs_bench_add_check(struct gs_bench_store *store, json_t *check)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    if (json_array_append_new(store->checks, check) < 0)
        return -ENOMEM;
    path_in(store, "checks.json", path);
    path_in(store, "checks.json.new", fresh);
    if (json_dump_file(store->checks, fresh, JSON_INDENT(1)) < 0 || rename(fresh, path) < 0) {
        gs_error("%s can't be written: %s", path, strerror(errno));
        return -EIO;
    }
    return 0;
}

void gs_bench_close_store(struct gs_bench_store *store)
{
    if (store->file)
        fclose(store->file);
    free(store->rows);
    json_decref(store->checks);
    *store = (struct gs_bench_store){0};
}
