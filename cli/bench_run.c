/* SPDX-License-Identifier: MIT */
/* gpusparc bench: runs the samples in turn, checks their results, and shows what came of it. */
#include "cli/bench_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/json_file.h"
#include "common/log.h"

enum { MAX_TRIES = 12 };

/* --- What to run --- */

static void add_size(const struct gs_bench *b, const struct gs_bench_sample *s, double scale,
                     struct gs_bench_words *words)
{
    if (b->small) {
        gs_bench_add_split(words, s->small);
        return;
    }
    for (int i = 0; i < s->size_count && scale != 1; i++) {
        gs_bench_add(words, "--%s", s->sizes[i].option);
        gs_bench_add(words, "%ld", gs_bench_scaled(&s->sizes[i], scale));
    }
}

/* The sample's command line up to its size; `stats` names the file for the shim's statistics or is NULL. */
static void add_program(const struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode,
                        const char *stats, struct gs_bench_words *words)
{
    if (strcmp(mode, "plain") != 0) {
        const char *devices = strncmp(mode, "multi", 5) == 0 ? mode + 5 : "1";
        gs_bench_add(words, "%s", b->self);
        gs_bench_add(words, "run");
        gs_bench_add(words, "--mode=%s", strncmp(mode, "multi", 5) == 0 ? b->mode : "single");
        gs_bench_add(words, "--gpus=%s", devices);
        if (b->devices)
            gs_bench_add(words, "--devices=%s", b->devices);
        if (stats)
            gs_bench_add(words, "--stats=%s", stats);
        gs_bench_add(words, "--");
    }
    gs_bench_add(words, "%s/%s", b->samples_dir, s->name);
    if (b->device) {
        gs_bench_add(words, "--device");
        gs_bench_add(words, "%s", b->device);
    }
    add_size(b, s, scale, words);
}

static void progress(const struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode,
                     const char *what)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K[%3.0f %%] %s, scale %.4g, %s: %s",
                b->all ? 100.0 * (double)b->done / (double)b->all : 0, s->name, scale, mode, what);
    else if (strcmp(what, "check") == 0)
        fprintf(stderr, "gpusparc: [%3.0f %%] %s, scale %.4g, %s\n",
                b->all ? 100.0 * (double)b->done / (double)b->all : 0, s->name, scale, mode);
}

static void end_progress(void)
{
    if (isatty(2))
        fputs("\r\033[K", stderr);
}

static void complain(const struct gs_bench_sample *s, double scale, const char *mode, const struct gs_bench_end *end)
{
    end_progress();
    if (end->status == -ETIMEDOUT)
        gs_error("%s, scale %.4g, %s: not ready in time; give a larger --timeout", s->name, scale, mode);
    else if (end->status < 0 && end->status != -EINTR)
        gs_error("%s, scale %.4g, %s: can't be run: %s", s->name, scale, mode, strerror(-end->status));
    else if (end->status >= 0)
        gs_error("%s, scale %.4g, %s: exit status %d: %s", s->name, scale, mode, end->status,
                 end->error[0] ? end->error : end->output);
}

static void add_timed(const struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode,
                      long iterations, struct gs_bench_words *words)
{
    add_program(b, s, scale, mode, NULL, words);
    gs_bench_add_split(words, "--no-check --times");
    gs_bench_add(words, "--iterations");
    gs_bench_add(words, "%ld", iterations);
}

/* What a timed run has printed: the times stand in the second line. 0 or -EPROTO. */
static int read_times(const struct gs_bench_sample *s, double scale, const char *mode, const struct gs_bench_end *end,
                      struct gs_bench_row *row)
{
    static const char *const keys[] = {"write_ms", "kernel_ms", "read_ms", "total_ms"};
    const char *line = end->status == 0 ? strchr(end->output, '\n') : NULL;
    json_t *times = line ? json_loads(line + 1, 0, NULL) : NULL;
    *row = (struct gs_bench_row){.scale = scale};
    strcpy(row->sample, s->name);
    snprintf(row->mode, sizeof(row->mode), "%s", mode);
    for (int i = 0; i < GS_BENCH_PHASES; i++)
        row->ms[i] = json_number_value(json_object_get(times, keys[i]));
    json_decref(times);
    return times ? 0 : -EPROTO;
}

/* One timed run. */
static int measure(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode, long iterations,
                   struct gs_bench_row *row, struct gs_bench_end *end)
{
    struct gs_bench_words words = {0};
    add_timed(b, s, scale, mode, iterations, &words);
    const int err = gs_bench_execute(&words, (double)b->timeout_s, end);
    gs_bench_free_words(&words);
    const int unread = read_times(s, scale, mode, end, row);
    return err ? err : unread;
}

/* --- Whether it is right --- */

bool gs_bench_same_files(const char *a, const char *b)
{
    FILE *fa = fopen(a, "rb"), *fb = fopen(b, "rb");
    static char ba[1 << 16], bb[1 << 16];
    bool same = fa && fb;
    for (size_t n = 1; same && n > 0;) {
        n = fread(ba, 1, sizeof(ba), fa);
        same = fread(bb, 1, sizeof(bb), fb) == n && memcmp(ba, bb, n) == 0;
    }
    if (fa)
        fclose(fa);
    if (fb)
        fclose(fb);
    return same;
}

/* The shim's time for merging in a run of so many iterations; 0 where it isn't told. */
static double merge_ms_of(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode,
                          long iterations, const char *stats)
{
    struct gs_bench_words words = {0};
    struct gs_bench_end end;
    unlink(stats);
    add_program(b, s, scale, mode, stats, &words);
    gs_bench_add_split(&words, "--no-check --iterations");
    gs_bench_add(&words, "%ld", iterations);
    const int err = gs_bench_execute(&words, (double)b->timeout_s, &end);
    gs_bench_free_words(&words);
    json_t *counted = err ? NULL : gs_json_load(stats, GS_FILE_RESULT, 0, NULL);
    const double ms = json_number_value(json_object_get(counted, "merge_ns")) * 1e-6;
    json_decref(counted);
    return ms;
}

/* Per iteration, where there is any. What the first one has to do once (compile, make its buffers) doesn't count. */
static double measure_merge(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode,
                            const json_t *counted, const char *stats)
{
    if (json_integer_value(json_object_get(counted, "merge_ns")) <= 0)
        return 0;
    progress(b, s, scale, mode, "merge time");
    const double first = merge_ms_of(b, s, scale, mode, 1, stats);
    const double all = merge_ms_of(b, s, scale, mode, b->iterations + 1, stats);
    return fmax(all - first, 0) / (double)b->iterations;
}

/* A run whose result is kept: the plain one is checked by the sample itself, the others are compared with it. These do
   as many iterations as a timed run, so that the bytes and the statistics are those of what `auto` comes to. */
static int check(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode)
{
    const bool plain = strcmp(mode, "plain") == 0;
    char bytes[PATH_MAX + 16], plain_bytes[PATH_MAX + 16], stats[PATH_MAX + 16];
    struct gs_bench_words words = {0};
    struct gs_bench_end end;
    snprintf(plain_bytes, sizeof(plain_bytes), "%splain", b->scratch);
    snprintf(bytes, sizeof(bytes), "%s%s", b->scratch, plain ? "plain" : "split");
    snprintf(stats, sizeof(stats), "%sstats.json", b->scratch);
    unlink(stats);
    progress(b, s, scale, mode, "check");
    add_program(b, s, scale, mode, plain ? NULL : stats, &words);
    gs_bench_add(&words, "--output");
    gs_bench_add(&words, "%s", bytes);
    if (!plain || b->no_check)
        gs_bench_add(&words, "--no-check");
    const long iterations = plain ? 1 : b->iterations;
    gs_bench_add(&words, "--iterations");
    gs_bench_add(&words, "%ld", iterations);
    const int err = gs_bench_execute(&words, (double)b->timeout_s, &end);
    gs_bench_free_words(&words);
    if (err == -EINTR)
        return err;
    const char *outcome = err ? "failed" : (plain ? (b->no_check ? "unchecked" : "right") : "equal");
    if (!err && !plain && !gs_bench_same_files(bytes, plain_bytes)) {
        end_progress();
        gs_error("%s, scale %.4g, %s: the result differs from the plain run's", s->name, scale, mode);
        outcome = "DIFFERENT";
    }
    if (err)
        complain(s, scale, mode, &end);
    json_t *counted = plain ? NULL : gs_json_load(stats, GS_FILE_RESULT, 0, NULL);
    const double merge_ms = measure_merge(b, s, scale, mode, counted, stats);
    return gs_bench_add_check(&b->store, json_pack("{s:s, s:f, s:s, s:s, s:f, s:i, s:o*}", "sample", s->name, "scale",
                                                   scale, "mode", mode, "outcome", outcome, "merge_ms", merge_ms,
                                                   "iterations", (int)iterations, "stats", counted));
}

static const char *outcome_of(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *mode)
{
    const char *text =
        json_string_value(json_object_get(gs_bench_find_check(&b->store, s->name, scale, mode), "outcome"));
    return text ? text : "";
}

/* Checks all modes that have not been. The plain run's bytes are made again where a mode still needs them. */
static int check_modes(struct gs_bench *b, const struct gs_bench_sample *s, double scale)
{
    bool missing = false;
    for (int m = 0; m < b->mode_count; m++)
        missing |= !gs_bench_find_check(&b->store, s->name, scale, b->modes[m]);
    int err = 0;
    for (int m = 0; m < b->mode_count && missing && !err && !gs_bench_stopped; m++) {
        const bool plain = strcmp(b->modes[m], "plain") == 0;
        json_t *old = gs_bench_find_check(&b->store, s->name, scale, b->modes[m]);
        if (!old)
            err = check(b, s, scale, b->modes[m]);
        else if (plain && strcmp(outcome_of(b, s, scale, "plain"), "failed") != 0) {
            struct gs_bench_words words = {0};
            struct gs_bench_end end;
            add_program(b, s, scale, "plain", NULL, &words);
            gs_bench_add_split(&words, "--no-check --output");
            gs_bench_add(&words, "%splain", b->scratch);
            err = gs_bench_execute(&words, (double)b->timeout_s, &end);
            if (err)
                complain(s, scale, "plain", &end);
            gs_bench_free_words(&words);
        }
        if (plain && strcmp(outcome_of(b, s, scale, "plain"), "failed") == 0)
            break; /* nothing to compare with */
    }
    return err;
}

/* --- How large, how fast --- */

static long available_kib(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[128];
    long kib = LONG_MAX;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

/* The scale at which one iteration of the plain run lasts long enough, as far as the memory goes. */
static double choose_scale(struct gs_bench *b, const struct gs_bench_sample *s)
{
    double scale = 1, good = 0;
    const struct gs_bench_store *const known[] = {&b->store, &b->like}; /* before it was interrupted; by another */
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < known[k]->count; i++)
            if (strcmp(known[k]->rows[i].sample, s->name) == 0)
                return known[k]->rows[i].scale;
    for (int i = 0; i < MAX_TRIES && !gs_bench_stopped; i++) {
        struct gs_bench_row row;
        struct gs_bench_end end;
        progress(b, s, scale, "plain", "how large?");
        if (measure(b, s, scale, "plain", 3, &row, &end))
            break;
        good = scale;
        const double missing = b->min_ms / fmax(row.ms[GS_BENCH_TOTAL], 1e-3);
        if (missing <= 1)
            break;
        const double factor = fmin(fmax(missing * 1.1, 1.25), 16);
        if ((double)end.max_rss_kib * factor > 0.4 * (double)available_kib())
            break;
        scale = exp2(ceil(4 * log2(scale * factor)) / 4);
    }
    return good > 0 ? good : 1;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* May another run begin? */
static bool may_go_on(struct gs_bench *b)
{
    b->over = b->over || (b->stop_after_s && now_s() - b->begin_s >= (double)b->stop_after_s);
    return !gs_bench_stopped && !b->over;
}

/* The probability that an interval misses is shared out among the looks at it. */
static struct gs_bench_certainty certainty(const struct gs_bench *b)
{
    return (struct gs_bench_certainty){.alpha = 0.05 / gs_looks_count(&b->looks), .limit = b->limit};
}

/* How long a turn is for processes that take turns: many iterations, since those that it cuts count too. */
static double turn_s(struct gs_bench *b, const struct gs_bench_sample *s, double scale)
{
    enum { LEAST_MS = 40, ITERATIONS = 8 };
    double longest = 0;
    for (size_t i = 0; i < b->store.count; i++)
        if (strcmp(b->store.rows[i].sample, s->name) == 0 && b->store.rows[i].scale == scale)
            longest = fmax(longest, b->store.rows[i].ms[GS_BENCH_TOTAL]);
    struct gs_bench_row row;
    struct gs_bench_end end;
    if (longest <= 0 && measure(b, s, scale, b->base, 3, &row, &end) == 0)
        longest = row.ms[GS_BENCH_TOTAL];
    return fmax((double)LEAST_MS, (double)ITERATIONS * longest) * 1e-3;
}

/* A run of each of these modes, by itself or in turns. A later one doesn't make up for one that fails. */
static int measure_run(struct gs_bench *b, const struct gs_bench_sample *s, double scale, const char *const *modes,
                       int n, int run)
{
    static struct gs_bench_end ends[GS_BENCH_MAX_MODES];
    struct gs_bench_words words[GS_BENCH_MAX_MODES] = {0};
    int err = 0;
    for (int i = 0; i < n; i++)
        add_timed(b, s, scale, modes[i], b->iterations, &words[i]);
    if (n > 0)
        gs_bench_execute_in_turns(words, n, n > 1 ? turn_s(b, s, scale) : 0, (double)b->timeout_s, ends);
    for (int i = 0; i < n; i++) {
        struct gs_bench_row row;
        const int unread = read_times(s, scale, modes[i], &ends[i], &row), status = ends[i].status;
        row.run = run;
        gs_bench_free_words(&words[i]);
        if (status != -EINTR && (status || unread)) {
            complain(s, scale, modes[i], &ends[i]);
            b->wrong = true;
        } else if (status == 0 && !err) {
            err = gs_bench_add_row(&b->store, &row);
        }
    }
    return err;
}

/* The runs up to a look. In every other run the modes take turns the other way round, so that none is always the one
 * that comes after another. */
static int measure_modes(struct gs_bench *b, const struct gs_bench_sample *s, double scale, int look)
{
    const long first = look ? gs_looks_at(&b->looks, look - 1) + 1 : 1, last = gs_looks_at(&b->looks, look);
    int err = 0;
    for (int run = (int)first; run <= last && !err; run++) {
        const char *together[GS_BENCH_MAX_MODES];
        int n = 0;
        for (int m = 0; m < b->mode_count && !err; m++) {
            const char *mode = b->modes[run % 2 ? m : b->mode_count - 1 - m];
            char what[64];
            b->done++;
            if (strcmp(outcome_of(b, s, scale, mode), "failed") == 0 ||
                gs_bench_find_row(&b->store, s->name, scale, mode, run) || !may_go_on(b))
                continue;
            snprintf(what, sizeof(what), "run %d of %ld", run, last);
            progress(b, s, scale, mode, what);
            together[n++] = mode;
            if (b->side_by_side)
                continue;
            err = measure_run(b, s, scale, together, n, run);
            n = 0;
        }
        if (!err)
            err = measure_run(b, s, scale, together, n, run);
    }
    return err;
}

/* Is what was asked for known by now? */
static bool is_settled(const struct gs_bench *b, const struct gs_bench_result *r)
{
    const bool narrow = b->precision > 0 && r->interval[1] > 0 && r->interval[1] - r->interval[0] < b->precision;
    return narrow || (b->until_sure && r->verdict != GS_BENCH_UNSURE);
}

static bool is_open(struct gs_bench *b, const struct gs_bench_sample *s, double scale)
{
    const struct gs_bench_certainty sure = certainty(b);
    bool open = false;
    for (int m = 0; m < b->mode_count && !open; m++) {
        struct gs_bench_result r;
        open = strcmp(b->modes[m], b->base) != 0 && gs_bench_find_row(&b->store, s->name, scale, b->modes[m], 1) &&
               gs_bench_result(&b->store, s, scale, b->modes[m], b->base, &sure, &r) == 0 && !is_settled(b, &r);
    }
    return open;
}

/* The runs up to the first look, or, where that left something open, up to a later one. */
static int bench_sample(struct gs_bench *b, const struct gs_bench_sample *s, int look)
{
    const int n = b->scale_count ? b->scale_count : 1;
    int err = 0;
    for (int i = 0; i < n && !err && may_go_on(b); i++) {
        const double scale = b->scale_count ? b->scales[i] : choose_scale(b, s);
        if (look && !is_open(b, s, scale))
            continue;
        if (look)
            b->all += (size_t)b->mode_count * (size_t)(gs_looks_at(&b->looks, look) - gs_looks_at(&b->looks, look - 1));
        err = check_modes(b, s, scale);
        if (err == -EINTR)
            return 0;
        if (strcmp(outcome_of(b, s, scale, "plain"), "failed") == 0) {
            b->done += (size_t)b->mode_count * (size_t)b->runs;
            continue;
        }
        if (!err)
            err = measure_modes(b, s, scale, look);
    }
    return err;
}

/* --- Around it --- */

/* What must be the same for runs to be comparable. */
static json_t *make_settings(const struct gs_bench *b)
{
    /* When it is looked at belongs to what the intervals mean. */
    const bool once = b->looks.first == b->looks.most;
    json_t *looks = once ? NULL : json_pack("[i, i]", (int)b->looks.first, (int)b->looks.most);
    return json_pack("{s:s*, s:s, s:s*, s:i, s:b, s:b, s:f, s:o*, s:o*}", "devices", b->devices, "mode", b->mode,
                     "device", b->device, "iterations", (int)b->iterations, "small", b->small, "auto_scale",
                     b->scale_count == 0, "min_ms", b->min_ms, "looks", looks, "side_by_side",
                     b->side_by_side ? json_true() : NULL);
}

static void read_cpu(char model[128])
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    strcpy(model, "unknown");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "model name : %127[^\n]", model) == 1)
            break;
    if (f)
        fclose(f);
}

/* The group that the runs under gpusparc have, as `gpusparc devices` tells it; NULL where it can't. Without one each of
 * them would be as a plain one, and would be shown as something else. 0; -ENODEV: there is none, which has been said.
 */
static int find_devices(const struct gs_bench *b, json_t **devices)
{
    struct gs_bench_words words = {0};
    struct gs_bench_end end;
    int most = 1;
    for (int m = 0; m < b->mode_count; m++)
        if (strncmp(b->modes[m], "multi", 5) == 0 && atoi(b->modes[m] + 5) > most)
            most = atoi(b->modes[m] + 5);
    gs_bench_add(&words, "%s", b->self);
    gs_bench_add_split(&words, "devices --json");
    gs_bench_add(&words, "--gpus=%d", most);
    if (b->devices)
        gs_bench_add(&words, "--devices=%s", b->devices);
    *devices = gs_bench_execute(&words, 60, &end) == 0 ? json_loads(end.output, 0, NULL) : NULL;
    gs_bench_free_words(&words);
    if (end.status == GS_EXIT_FAILED || end.status == GS_EXIT_USAGE) {
        const char *said = strncmp(end.error, "gpusparc: ", 10) == 0 ? end.error + 10 : end.error;
        gs_error("%s", *said ? said : "there is no OpenCL device");
        return -ENODEV;
    }
    const size_t n = json_array_size(json_object_get(json_object_get(*devices, "group"), "devices"));
    if (n && n < (size_t)most)
        gs_warn("the group has %zu device%s: multi%d runs on no more", n, n == 1 ? "" : "s", most);
    return 0;
}

static void write_environment(const struct gs_bench *b, json_t *devices)
{
    struct utsname system;
    char cpu[128], date[32], path[PATH_MAX];
    const time_t now = time(NULL);
    uname(&system);
    read_cpu(cpu);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    double load = 0;
    getloadavg(&load, 1);
    json_t *environment =
        json_pack("{s:s, s:f, s:s, s:s, s:s, s:s, s:s, s:I, s:O*}", "command", b->command, "load", load, "gpusparc",
                  GS_VERSION, "date", date, "kernel", system.release, "machine", system.machine, "cpu", cpu, "cpus",
                  (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "devices", devices);
    snprintf(path, sizeof(path), "%s/environment.json", b->dir);
    if (json_dump_file(environment, path, JSON_INDENT(2)) < 0)
        gs_warn("%s can't be written: %s", path, strerror(errno));
    json_decref(environment);
}

bool gs_bench_circumstances(const char *dir, char *text, size_t bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/environment.json", dir);
    json_t *e = json_load_file(path, 0, NULL);
    const char *command = json_string_value(json_object_get(e, "command"));
    if (command)
        snprintf(text, bytes, "Measured by %s; the machine's load when it began: %.2f, on %lld processors.", command,
                 json_number_value(json_object_get(e, "load")),
                 (long long)json_integer_value(json_object_get(e, "cpus")));
    json_decref(e);
    return command;
}

static int show(struct gs_bench *b)
{
    char text[2048];
    const struct gs_bench_certainty sure = certainty(b);
    struct gs_bench_result *results;
    size_t count;
    if (gs_bench_results(&b->store, b->samples, b->sample_count, b->base, &sure, &results, &count))
        return GS_EXIT_FAILED;
    if (b->json) {
        json_t *all = gs_bench_json(results, count, b->base, &sure);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    } else {
        gs_bench_print_table(stdout, results, count, b->base, &sure);
        if (gs_bench_circumstances(b->dir, text, sizeof text))
            puts(text);
    }
    int err = gs_bench_write_csv(b->dir, results, count);
    const sig_atomic_t stopped = gs_bench_stopped;
    gs_bench_stopped = 0; /* the pictures of what there is are drawn all the same */
    if (!err)
        gs_bench_write_pictures(b->dir, results, count, b->base);
    if (b->html && gs_bench_write_html(b->html, b->dir, results, count, b->base, &sure))
        err = -EIO;
    gs_bench_stopped = stopped;
    free(results);
    json_t *check;
    size_t i;
    json_array_foreach(b->store.checks, i, check)
    {
        const char *outcome = json_string_value(json_object_get(check, "outcome"));
        b->wrong |= strcmp(outcome, "failed") == 0 || strcmp(outcome, "DIFFERENT") == 0;
    }
    return err || b->wrong || stopped ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static void stop(int signal)
{
    (void)signal;
    gs_bench_stopped = 1;
}

static void remove_scratch(const struct gs_bench *b)
{
    static const char *const names[] = {"plain", "split", "stats.json"};
    char path[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s%s", b->scratch, names[i]);
        unlink(path);
    }
}

/* A folder is shown with the settings that its runs were made with: what the intervals mean, and the base. */
static int open_to_show(struct gs_bench *b)
{
    json_t *settings = gs_bench_open_report(&b->store, b->dir);
    if (!settings)
        return -EINVAL;
    int first, most;
    if (json_unpack(settings, "{s:[i, i!]}", "looks", &first, &most) == 0 && first > 0 && most >= first)
        b->looks = (struct gs_looks){first, most};
    const char *devices = json_string_value(json_object_get(settings, "devices"));
    if (!b->base)
        b->base = gs_bench_default_base(devices);
    json_decref(settings);
    return 0;
}

static int open_to_measure(struct gs_bench *b)
{
    json_t *settings = make_settings(b);
    const int err = gs_bench_open_store(&b->store, b->dir, b->resume, settings);
    json_decref(settings);
    return err;
}

const char *gs_bench_default_base(const char *devices)
{
    return devices && strncmp(devices, "cpu:", 4) == 0 ? "single" : "plain";
}

int gs_bench_run(struct gs_bench *b)
{
    b->looks = (struct gs_looks){b->runs, b->until_sure || b->precision > 0 ? b->runs_max : b->runs};
    b->begin_s = now_s();
    json_t *devices = NULL;
    int err = b->report ? 0 : find_devices(b, &devices);
    if (!err)
        err = b->report ? open_to_show(b) : open_to_measure(b);
    if (!err && b->like_dir)
        err = gs_bench_read_runs(&b->like, b->like_dir);
    if (!err && !b->report)
        write_environment(b, devices);
    json_decref(devices);
    if (err)
        return GS_EXIT_FAILED;
    struct sigaction action = {.sa_handler = stop}, old_int, old_term;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    snprintf(b->scratch, sizeof(b->scratch), "%s/.result-", b->dir);
    b->all = b->sample_count * (size_t)b->mode_count * (size_t)b->runs * (size_t)(b->scale_count ? b->scale_count : 1);
    for (int look = 0; look < gs_looks_count(&b->looks) && !b->report; look++)
        for (size_t i = 0; i < b->sample_count && !err && may_go_on(b); i++)
            err = bench_sample(b, &b->samples[i], look);
    end_progress();
    remove_scratch(b);
    int status = show(b);
    if (gs_bench_stopped)
        gs_error("interrupted; the same command with --resume goes on from here");
    else if (b->over)
        gs_warn("%ld s are over; the same command with --resume goes on from here", b->stop_after_s);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return err ? GS_EXIT_FAILED : status;
}
