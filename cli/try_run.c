/* SPDX-License-Identifier: MIT */
/* gpusparc try: runs the application in turns, and compares what it leaves. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/child.h"
#include "cli/progress.h"
#include "cli/try.h"
#include "common/json_file.h"
#include "common/log.h"
#include "common/settings.h"
#include "shim/devices/group.h"

extern char **environ;

enum { LOOK_FIRST = 6, PATH = PATH_MAX + 32 };

int gs_try_find_devices(struct gs_try *t)
{
    struct gs_settings settings;
    struct gs_group group;
    char why[256];
    int err = gs_settings_from_env(&settings, why, sizeof why);
    if (!err && t->devices)
        err = gs_settings_set(&settings, "GPUSPARC_DEVICES", "--devices", t->devices, why, sizeof why);
    if (!err && t->gpus)
        err = gs_settings_set(&settings, "GPUSPARC_GPUS", "--gpus", t->gpus, why, sizeof why);
    settings.mode = GS_MODE_AUTO;
    if (!err)
        err = gs_group_make(&group, &settings, why, sizeof why);
    if (err) {
        gs_error("%s", why);
        return err;
    }
    t->n = group.n;
    t->cpu = group.sub_devices;
    t->gpus_only = group.type == CL_DEVICE_TYPE_GPU;
    t->blind = settings.spec == GS_SPEC_DEFAULT && !(group.type & CL_DEVICE_TYPE_GPU);
    if (group.n < 2 && !t->blind)
        gs_warn("there is one device%s%s: nothing can be split, and only faster transfers can gain",
                group.reason ? ", as " : "", group.reason ? group.reason : "");
    return 0;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What runs: a signal may come between any two steps of its start and its end. */
static volatile sig_atomic_t running, overdue;

static void stop(int signal)
{
    if (signal == SIGALRM)
        overdue = 1;
    else
        gs_bench_stopped = 1;
    if (running > 0)
        kill(-running, SIGKILL);
}

/* ---- one run ---- */

static void name_file(const struct gs_try *t, const char *name, char path[PATH])
{
    snprintf(path, PATH, "%s/%s", t->dir, name);
}

static void add_words(const struct gs_try *t, enum gs_try_way way, const char *stats, struct gs_bench_words *words)
{
    if (way != GS_TRY_PLAIN) {
        const char *mode = way == GS_TRY_SINGLE ? "single" : way == GS_TRY_MULTI || t->blind ? "multi" : "auto";
        gs_bench_add(words, "%s", t->self);
        gs_bench_add(words, "run");
        gs_bench_add(words, "--mode=%s", mode);
        if (t->devices || t->blind)
            gs_bench_add(words, "--devices=%s", t->devices ? t->devices : "cpu:2");
        if (t->gpus)
            gs_bench_add(words, "--gpus=%s", t->gpus);
        if (stats)
            gs_bench_add(words, "--stats=%s", stats);
        gs_bench_add(words, "--");
    }
    for (char **word = t->app; *word; word++)
        gs_bench_add(words, "%s", *word);
}

/* Its exit status, or 128 + the number of the signal that ended it; -EINTR: it was interrupted; -ETIMEDOUT: it had not
 * ended after so many seconds. */
static int await(pid_t pid, double limit_s)
{
    int status;
    overdue = 0;
    running = pid;
    alarm((unsigned)limit_s + 1);
    if (gs_bench_stopped)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    running = 0;
    alarm(0);
    if (gs_bench_stopped)
        return -EINTR;
    if (overdue)
        return -ETIMEDOUT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A run that takes far longer than the first one did hangs. */
static double limit_of(const struct gs_try *t)
{
    enum { TIMES = 20, LEAST_S = 60, ANY_S = 24 * 3600 };
    const double first_s = t->times.first_s[GS_TRY_PLAIN];
    return t->limit_s > 0 ? t->limit_s : first_s > 0 ? LEAST_S + TIMES * first_s : ANY_S;
}

/* Its wall time, and as `await`; or -errno: it can't be started. */
static int run(struct gs_try *t, enum gs_try_way way, const char *stats, double *s)
{
    struct gs_bench_words words = {0};
    char out[PATH], err[PATH];
    pid_t pid;
    name_file(t, "out", out);
    name_file(t, "err", err);
    add_words(t, way, stats, &words);
    const double begin = now_s();
    int status = gs_child_start(words.word, out, err, &pid);
    if (!status)
        status = await(pid, limit_of(t));
    *s = now_s() - begin;
    gs_bench_free_words(&words);
    return status;
}

/* ---- what it leaves ---- */

static int copy_file(const char *from, const char *to)
{
    char bytes[1 << 14];
    size_t n;
    FILE *a = fopen(from, "rbe"), *b = a ? fopen(to, "wbe") : NULL;
    int err = b ? 0 : -errno;
    while (!err && (n = fread(bytes, 1, sizeof bytes, a)) > 0)
        if (fwrite(bytes, 1, n, b) != n)
            err = -EIO;
    if (a)
        fclose(a);
    if (b && fclose(b) != 0 && !err)
        err = -EIO;
    return err;
}

static void name_kept(const struct gs_try *t, size_t i, char path[PATH])
{
    char name[32];
    snprintf(name, sizeof name, "file%zu", i);
    name_file(t, name, path);
}

/* The plain run's: the others are compared with it. A file is taken away, so that none is compared that an earlier run
 * has left. */
static int keep(struct gs_try *t, const struct stat *before)
{
    char out[PATH], kept[PATH];
    struct stat after;
    for (size_t i = 0; i < t->n_outputs; i++)
        if (stat(t->outputs[i], &after) == 0 && after.st_ino == before[i].st_ino &&
            after.st_mtim.tv_sec == before[i].st_mtim.tv_sec && after.st_mtim.tv_nsec == before[i].st_mtim.tv_nsec) {
            gs_error("--output: the application doesn't write '%s'", t->outputs[i]);
            return -EINVAL;
        }
    name_file(t, "out", out);
    name_file(t, "kept", kept);
    int err = copy_file(out, kept);
    for (size_t i = 0; i < t->n_outputs && !err; i++) {
        name_kept(t, i, kept);
        err = copy_file(t->outputs[i], kept);
        if (err)
            gs_error("--output: the application has left no file '%s': %s", t->outputs[i], strerror(-err));
        else
            unlink(t->outputs[i]);
    }
    return err;
}

static void put_back(const struct gs_try *t)
{
    char kept[PATH];
    for (size_t i = 0; i < t->n_outputs; i++) {
        name_kept(t, i, kept);
        if (access(kept, F_OK) == 0)
            copy_file(kept, t->outputs[i]);
    }
}

/* What differs from the plain run's; NULL: nothing. */
static const char *compare(const struct gs_try *t)
{
    char out[PATH], kept[PATH];
    name_file(t, "out", out);
    name_file(t, "kept", kept);
    const char *different = gs_bench_same_files(out, kept) ? NULL : "its output";
    for (size_t i = 0; i < t->n_outputs; i++) {
        name_kept(t, i, kept);
        if (!different && !gs_bench_same_files(t->outputs[i], kept))
            different = t->outputs[i];
        unlink(t->outputs[i]);
    }
    return different;
}

/* ---- all of them ---- */

static const char its_status[] = "its exit status";

/* A run whose end and bytes are compared. 0, or as `run` where it did not end by itself. */
static int compared(struct gs_try *t, enum gs_try_way way, double *s)
{
    const int status = run(t, way, NULL, s);
    if (status == -ETIMEDOUT) {
        t->different = "its end";
        t->different_in = way;
        t->hung_s = *s;
    }
    if (status < 0)
        return status;
    const char *different = status != t->status ? its_status : compare(t);
    if (different && way == GS_TRY_PLAIN) {
        t->varies = true;
        if (t->different != its_status && !t->hung_s)
            t->different = NULL; /* what was taken for a wrong result */
    } else if (different && !t->different && (!t->varies || status != t->status)) {
        t->different = different;
        t->different_in = way;
    }
    return 0;
}

static int first_run(struct gs_try *t)
{
    struct stat before[GS_TRY_OUTPUTS] = {0};
    for (size_t i = 0; i < t->n_outputs; i++)
        if (stat(t->outputs[i], &before[i]) < 0)
            before[i] = (struct stat){0};
    gs_progress("a first plain run");
    t->status = run(t, GS_TRY_PLAIN, NULL, &t->times.first_s[GS_TRY_PLAIN]);
    if (t->status < 0) {
        if (t->status == -ETIMEDOUT)
            gs_error("'%s' had not ended after %.0f s, without gpusparc; give a larger --timeout", t->app[0],
                     t->times.first_s[GS_TRY_PLAIN]);
        else if (t->status != -EINTR)
            gs_error("'%s' can't be run: %s", t->app[0], strerror(-t->status));
        return t->status;
    }
    if (t->status) {
        char err[PATH];
        name_file(t, "err", err);
        gs_last_line(err, t->said, sizeof t->said);
    }
    return keep(t, before);
}

static bool is_run(const struct gs_try *t, int way)
{
    return way == GS_TRY_MULTI ? t->multi : true;
}

/* Each way once: who comes first gets no further than to make what later runs find. The plain one shows whether its
 * bytes are the same each time. Its times count where there is no time for others. */
static int warm_up(struct gs_try *t)
{
    int err = 0;
    for (int way = 0; way < GS_TRY_WAYS && !err; way++) {
        if (!is_run(t, way))
            continue;
        gs_progress("a first run: %s", gs_try_names[way]);
        double s;
        err = compared(t, (enum gs_try_way)way, &s);
        t->times.s[way][0] = s;
        if (way != GS_TRY_PLAIN)
            t->times.first_s[way] = s;
    }
    return err;
}

static int round_of(struct gs_try *t, double end_s)
{
    const size_t n = t->times.n;
    for (int k = 0; k < GS_TRY_WAYS; k++) {
        const int way = (int)((n + (size_t)k) % GS_TRY_WAYS); /* none always comes after the same one */
        if (!is_run(t, way))
            continue;
        gs_progress("round %zu: %s; %.0f s left at most", n + 1, gs_try_names[way],
                    end_s > now_s() ? end_s - now_s() : 0);
        const int err = compared(t, (enum gs_try_way)way, &t->times.s[way][n]);
        if (err)
            return err;
    }
    t->times.n++;
    return 0;
}

static struct gs_try_verdict verdict(const struct gs_try *t)
{
    return gs_try_judge(&t->times, t->cpu ? GS_TRY_SINGLE : GS_TRY_PLAIN, GS_TRY_ALL, 0.05 / gs_looks_count(&t->looks));
}

static int rounds(struct gs_try *t, double end_s)
{
    double longest = 0;
    bool narrow = false;
    int look = 0, err = 0;
    while (!err && !narrow && t->times.n < GS_TRY_MOST && now_s() + longest < end_s) {
        const double begin = now_s();
        err = round_of(t, end_s);
        longest = now_s() - begin > longest ? now_s() - begin : longest;
        if ((long)t->times.n == gs_looks_at(&t->looks, look)) {
            const struct gs_try_verdict v = verdict(t);
            narrow = gs_try_is_narrow(&v);
            look++;
        }
    }
    if (!t->times.n && !err)
        t->times.n = 1; /* of the first runs */
    return err;
}

/* Why kernels are split or not, from one more run. */
static int explain(struct gs_try *t)
{
    char path[PATH];
    double s;
    name_file(t, "stats.json", path);
    gs_progress("a run that says why");
    const int status = run(t, GS_TRY_ALL, path, &s);
    if (status >= 0 && !t->different && status != t->status) {
        t->different = its_status;
        t->different_in = GS_TRY_ALL;
    } else if (status >= 0 && t->blind && !t->different && !t->varies) {
        t->different = compare(t);
        t->different_in = GS_TRY_ALL;
    }
    t->stats = gs_json_load(path, GS_FILE_RESULT, 0, NULL);
    t->explained = status >= 0;
    /* Without a GPU there was one plain run: another one tells a wrong result from what is another each time. */
    if (t->blind && t->different && t->different != its_status)
        return compared(t, GS_TRY_PLAIN, &s);
    return status < 0 ? status : 0;
}

static int all_runs(struct gs_try *t)
{
    const double end_s = now_s() + t->time_s;
    int err = first_run(t);
    t->cut_s = t->times.first_s[GS_TRY_PLAIN];
    if (err == -EINTR) {
        t->cut = GS_TRY_CUT_FIRST;
        t->times.first_s[GS_TRY_PLAIN] = 0;
        return 0;
    }
    if (!err && !t->blind && now_s() >= end_s) {
        t->cut = GS_TRY_OUT_OF_TIME;
        return 0;
    }
    if (!err && !t->blind)
        err = warm_up(t);
    if (!err && !t->blind)
        err = rounds(t, end_s);
    if (!err)
        err = explain(t);
    if (err == -ETIMEDOUT && t->different)
        return 0;
    if (err == -EINTR && !t->times.n && !t->stats)
        t->cut = GS_TRY_CUT_EARLY;
    return err == -EINTR ? 0 : err;
}

static void remove_dir(const struct gs_try *t)
{
    static const char *const names[] = {"out", "err", "kept", "stats.json"};
    char path[PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name_file(t, names[i], path);
        unlink(path);
    }
    for (size_t i = 0; i < t->n_outputs; i++) {
        name_kept(t, i, path);
        unlink(path);
    }
    rmdir(t->dir);
}

int gs_try_run(struct gs_try *t)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(t->dir, sizeof t->dir, "%s/gpusparc-try-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(t->dir)) {
        const int err = -errno;
        gs_error("no folder for what the runs leave, '%s': %s", t->dir, strerror(-err));
        return err;
    }
    t->looks = (struct gs_looks){LOOK_FIRST, GS_TRY_MOST};
    struct sigaction action = {.sa_handler = stop}, old_int, old_term, old_alarm;
    sigaction(SIGALRM, &action, &old_alarm);
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    int err = all_runs(t);
    gs_progress_end();
    put_back(t);
    remove_dir(t);
    sigaction(SIGALRM, &old_alarm, NULL);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return err;
}
