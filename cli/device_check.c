/* SPDX-License-Identifier: MIT */
#include "cli/device_check.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/device_check_run.h"
#include "cli/paths.h"
#include "cli/self_test/kernels.h"
#include "common/cache.h"
#include "common/client/client.h"
#include "common/clock.h"
#include "common/json_file.h"
#include "common/log.h"
#include "common/spawn.h"
#include "common/utf8.h"
#include "common/links.h"
#include "translator/summary/translate.h"

enum { DAEMON_MS = 2000, FILE_BYTES = PATH_MAX + 32, TEXT_BYTES = 1024 };

enum state { OK, NOT, UNUSED };
static const char *const states[] = {[OK] = "ok", [NOT] = "not", [UNUSED] = "-"};

struct check {
    const struct gs_group *group;
    const struct gs_settings *settings;
    const char *devices, *gpus;
    double limit_s;
    bool as_json;
    char dir[PATH_MAX];
    json_t *items;
    char failed[256]; /* their names */
};

__attribute__((format(printf, 4, 5))) static void note(struct check *c, const char *item, enum state state,
                                                       const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    if (gs_check_interrupted())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at && !gs_is_utf8(text); at++) /* of a program's error output; JSON takes nothing else */
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    json_array_append_new(c->items, json_pack("{s:s, s:s, s:s}", "item", item, "state",
                                              state == UNUSED ? "unused" : states[state], "text", text));
    if (state == NOT)
        snprintf(c->failed + strlen(c->failed), sizeof c->failed - strlen(c->failed), "%s%s", *c->failed ? ", " : "",
                 item);
    if (c->as_json)
        return;
    printf("%-10s  %-3s  %s\n", item, states[state], text);
    fflush(stdout);
}

static const char *platform_name(const struct check *c, char name[256])
{
    *name = '\0';
    gs_real()->clGetPlatformInfo(c->group->platform, CL_PLATFORM_NAME, 256, name, NULL);
    return name;
}

static void check_devices(struct check *c)
{
    char name[256];
    const struct gs_group *g = c->group;
    note(c, "devices", OK, "%u%s of %s%s%s", g->n, g->sub_devices && g->n > 1 ? " parts of the CPU" : "",
         platform_name(c, name), g->reason ? "; " : "", g->reason ? g->reason : "");
}

/* ---- the cache ---- */

static void ignore_entry(void *arg, const char *name, time_t used, uint64_t bytes)
{
    (void)arg;
    (void)name;
    (void)used;
    (void)bytes;
}

static bool is_kept(void)
{
    char text[64], name[GS_HASH_HEX_BYTES];
    size_t bytes = 0;
    const int n = snprintf(text, sizeof text, "self-test of process %d", (int)getpid());
    gs_hash_hex(text, (size_t)n, name);
    gs_cache_write(name, text, (size_t)n);
    char *kept = gs_cache_read(name, &bytes);
    const bool same = kept && bytes == (size_t)n && memcmp(kept, text, bytes) == 0;
    free(kept);
    gs_cache_remove(name);
    return same;
}

static const char *why_not_kept(const char *path)
{
    const int err = gs_cache_each(ignore_entry, NULL);
    if (err == -EPERM)
        return "it isn't a folder that you alone may write to";
    if (err < 0)
        return strerror(-err);
    return access(path, W_OK | X_OK) < 0 ? strerror(errno)
                                         : "an entry isn't there after it was written; is the disk "
                                           "full?";
}

static void check_cache(struct check *c)
{
    char path[PATH_MAX] = "";
    if (gs_cache_limit() == 0)
        note(c, "cache", UNUSED, "GPUSPARC_CACHE_SIZE is 0: each process translates and learns anew");
    else if (gs_cache_folder(path, sizeof path) < 0)
        note(c, "cache", NOT,
             "neither XDG_CACHE_HOME nor HOME names a folder: each process translates and learns anew");
    else if (is_kept())
        note(c, "cache", OK, "%s", path);
    else
        note(c, "cache", NOT,
             "%s can't be used: %s. Each process translates and learns anew; make it a folder of yours, or let "
             "XDG_CACHE_HOME name another",
             path, why_not_kept(path));
}

/* ---- the translator ---- */

static void name_file(const struct check *c, const char *name, char path[FILE_BYTES])
{
    snprintf(path, FILE_BYTES, "%s/%s", c->dir, name);
}

static int translate(const struct check *c, const char *path, struct gs_summary **out, char *why, size_t why_bytes)
{
    static char extensions[8192], version[256], vendor[256], device[256];
    char platform[256];
    cl_uint bits = 64;
    cl_bool images = CL_TRUE;
    const struct _cl_icd_dispatch *cl = gs_real();
    const cl_device_id dev = c->group->dev[0];
    cl->clGetDeviceInfo(dev, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_OPENCL_C_VERSION, sizeof version, version, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_VERSION, sizeof device, device, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    const struct gs_translate_unit unit = {.source = gs_self_test_kernels, .options = ""};
    const struct gs_translate_request req = {
        .units = &unit,
        .n_units = 1,
        .device = {extensions, version, vendor, platform_name(c, platform), bits, images == CL_TRUE, device}};
    return gs_translate(&req, path, (int)c->settings->translate_timeout_ms, out, why, why_bytes);
}

/* A library that the translator needs and doesn't find is told by the dynamic loader, on stderr. */
static void ask_loader(const struct check *c, char *path, char *why, size_t bytes)
{
    enum { LOADER_FAILED = 127 };
    char out[FILE_BYTES], err[FILE_BYTES];
    char *argv[] = {path, NULL};
    name_file(c, "out", out);
    name_file(c, "err", err);
    const struct gs_check_process loader = gs_check_start(argv, out, err);
    if (gs_check_await(&loader, c->limit_s) == LOADER_FAILED)
        gs_check_describe(LOADER_FAILED, err, c->limit_s, why, bytes);
}

static void check_translator(struct check *c)
{
    const char *given = getenv("GPUSPARC_TRANSLATOR");
    char path[PATH_MAX], why[TEXT_BYTES / 2] = "";
    struct gs_summary *s = NULL;
    if (given && *given)
        snprintf(path, sizeof path, "%s", given);
    else
        gs_library_path("gpusparc-translate", path, sizeof path);
    int err = translate(c, path, &s, why, sizeof why);
    const char *refusal = err ? NULL : s->refusal;
    for (uint32_t i = 0; !err && i < s->n_kernels && !refusal; i++)
        refusal = s->kernels[i].refusal;
    if (refusal)
        snprintf(why, sizeof why, "%s", refusal);
    if (!err && !*why && s->n_kernels == 2)
        note(c, "translator", OK, "libclang reads the test's kernels: they can be split");
    else if (access(path, X_OK) < 0)
        note(c, "translator", NOT,
             "%.300s: %s. No kernel is split; install gpusparc whole, or unset GPUSPARC_TRANSLATOR", path,
             strerror(errno));
    else {
        if (err == -EPIPE)
            ask_loader(c, path, why, sizeof why);
        note(c, "translator", NOT, "%s. No kernel is split; is libclang installed?",
             *why ? why : "it finds no kernels");
    }
    gs_summary_free(s);
}

/* ---- windows ---- */

static void check_windows(struct check *c)
{
    char path[PATH_MAX], input[512], answer[512] = "", *output = NULL;
    const char *how = "gave no answer";
    size_t bytes = 0;
    if (c->group->n < 2 || c->group->shared_memory || !(c->group->type & CL_DEVICE_TYPE_GPU)) {
        note(c, "windows", UNUSED, "%s: nothing goes from one GPU's memory to another's",
             c->group->n < 2           ? "there is one device"
             : c->group->shared_memory ? "the devices share the host's memory"
                                       : "the devices are no GPUs");
        return;
    }
    const size_t n = gs_links_request(c->settings, "windows", input, sizeof input);
    gs_library_path("gpusparc-link-probe", path, sizeof path);
    if (gs_spawn(path, input, n, (int)(c->limit_s * 1e3), 0, &output, &bytes, &how) == 0)
        snprintf(answer, sizeof answer, "%.*s", (int)bytes, output);
    answer[strcspn(answer, "\n")] = '\0';
    const bool says_why = strncmp(answer, "no: ", 4) == 0;
    if (strcmp(answer, "ok") == 0)
        note(c, "windows", OK, "the GPUs reach each other's memory");
    else
        note(c, "windows", UNUSED, "%s%s: bytes between GPUs go through the host's memory",
             says_why ? "" : "their trial ", says_why ? answer + 4 : how);
    free(output);
}

/* ---- the application ---- */

/* As it is, or under the shim. Each has a cache of its own, so that both can compile at the same time. */
static struct gs_check_process start_application(const struct check *c, bool split)
{
    char self[PATH_MAX], program[PATH_MAX], platform[256], type[32], out[FILE_BYTES], err[FILE_BYTES];
    char stats[FILE_BYTES + 8], devices[512], gpus[64], mode[] = "--mode=multi", run[] = "run", dashes[] = "--";
    char cache[FILE_BYTES];
    char *argv[16];
    size_t n = 0;
    name_file(c, split ? "split" : "plain", out);
    name_file(c, split ? "split.err" : "plain.err", err);
    name_file(c, split ? "split.cache" : "plain.cache", cache);
    if (mkdir(cache, 0700) < 0 || setenv("XDG_CACHE_HOME", cache, 1) < 0)
        return (struct gs_check_process){.failed = -errno};
    gs_program_path("gpusparc", self, sizeof self);
    gs_library_path("gpusparc-self-test", program, sizeof program);
    snprintf(type, sizeof type, "%llu", (unsigned long long)c->group->type);
    snprintf(stats, sizeof stats, "--stats=%s/s.json", c->dir);
    snprintf(devices, sizeof devices, "--devices=%s", c->devices ? c->devices : "");
    snprintf(gpus, sizeof gpus, "--gpus=%s", c->gpus ? c->gpus : "");
    if (split) {
        argv[n++] = self;
        argv[n++] = run;
        argv[n++] = mode;
        argv[n++] = stats;
        if (c->devices)
            argv[n++] = devices;
        if (c->gpus)
            argv[n++] = gpus;
        argv[n++] = dashes;
    }
    argv[n++] = program;
    platform_name(c, platform);
    argv[n++] = platform;
    argv[n++] = type;
    argv[n] = NULL;
    return gs_check_start(argv, out, err);
}

/* Its status, as by gs_check_await; `why` says what is wrong, `s` that it has ended within so many seconds. */
static int await_application(const struct check *c, const struct gs_check_process *p, bool split, double *s, char *why,
                             size_t why_bytes)
{
    char err[FILE_BYTES];
    name_file(c, split ? "split.err" : "plain.err", err);
    const int status = gs_check_await(p, c->limit_s);
    *s = (double)(gs_now_ms() - p->begin_ms) * 1e-3;
    if (status)
        gs_check_describe(status, err, c->limit_s, why, why_bytes);
    return status;
}

static bool check_plain(struct check *c, const struct gs_check_process *p)
{
    char why[TEXT_BYTES];
    double s;
    const bool ended = await_application(c, p, false, &s, why, sizeof why) == 0;
    if (ended)
        note(c, "plain run", OK, "a small application on one device, without gpusparc, in less than %.1f s", s + 0.05);
    else
        note(c, "plain run", NOT, "%.600s. That is without gpusparc: the OpenCL driver needs help; clinfo may say more",
             why);
    return ended;
}

/* Of a kernel that wasn't split each time, or of none. */
static bool all_split(const struct check *c, char *why, size_t bytes)
{
    char path[FILE_BYTES];
    size_t i;
    json_t *kernel;
    name_file(c, "s.json", path);
    json_t *stats = gs_json_load(path, GS_FILE_RESULT, 0, NULL);
    json_t *kernels = json_object_get(stats, "kernels");
    bool all = json_array_size(kernels) == 2;
    if (!all)
        snprintf(why, bytes, "gpusparc has seen %zu of 2 kernels: the program isn't under it",
                 json_array_size(kernels));
    json_array_foreach(kernels, i, kernel)
    {
        const char *reason =
            json_string_value(json_object_get(json_array_get(json_object_get(kernel, "reasons"), 0), "reason"));
        if (!all || json_integer_value(json_object_get(kernel, "split")) ==
                        json_integer_value(json_object_get(kernel, "launches")))
            continue;
        snprintf(why, bytes, "the kernel %s wasn't split: %s", json_string_value(json_object_get(kernel, "name")),
                 reason ? reason : "nobody says why");
        all = false;
    }
    json_decref(stats);
    return all;
}

static void check_split(struct check *c, const struct gs_check_process *p, bool has_plain)
{
    char why[TEXT_BYTES / 2] = "", plain[FILE_BYTES], split[FILE_BYTES];
    double s;
    if (c->group->n < 2) {
        note(c, "split run", NOT,
             "there is one device, and nothing to split. --devices cpu:2 tries it on parts of the "
             "CPU");
        return;
    }
    const int status = await_application(c, p, true, &s, why, sizeof why);
    if (!has_plain) {
        note(c, "split run", NOT, "not known: there is no plain run to compare it with");
        return;
    }
    name_file(c, "plain", plain);
    name_file(c, "split", split);
    if (status)
        note(c, "split run", NOT, "%s. Until it is mended: gpusparc run --mode single", why);
    else if (!gs_bench_same_files(plain, split))
        note(c, "split run", NOT,
             "its bytes aren't the plain run's: please report it, with gpusparc devices --json. Until it is mended: "
             "gpusparc run --mode single");
    else if (!all_split(c, why, sizeof why))
        note(c, "split run", NOT, "its bytes are the plain run's, but %s", why);
    else
        note(c, "split run", OK, "2 kernels on %u devices, and the plain run's bytes, in less than %.1f s", c->group->n,
             s + 0.05);
}

/* ---- the daemon ---- */

static void check_daemon(struct check *c)
{
    char path[PATH_MAX], *text = NULL;
    if (c->settings->no_daemon) {
        note(c, "daemon", UNUSED, "GPUSPARC_DAEMON is off");
        return;
    }
    gs_client_socket_path(path, sizeof path);
    const int err = gs_client_ask(NULL, GS_MSG_STATUS, NULL, DAEMON_MS, &text);
    free(text);
    if (!err)
        note(c, "daemon", OK, "answers at %s", path);
    else if (err == -ENOENT || err == -ECONNREFUSED)
        note(c, "daemon", UNUSED, "none at %s: only tasks with deadlines need one (gpusparc daemon)", path);
    else
        note(c, "daemon", NOT, "at %s: %s. gpusparc run --no-daemon does without it", path, strerror(-err));
}

/* ---- all of them ---- */

/* The applications get none of what is meant for others, and translate anew. */
static bool set_environment(const struct check *c)
{
    static const char *const others[] = {"LOG",  "TRACE",         "DUMP", "ONLY",   "NOT",
                                         "TASK", "TASK_REQUIRED", "PACE", "VERIFY", "FORGET"};
    char name[64];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(name, sizeof name, "GPUSPARC_%s", others[i]);
        unsetenv(name);
    }
    return setenv("GPUSPARC_HOSTS", "none", 1) == 0 && setenv("XDG_CACHE_HOME", c->dir, 1) == 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

static void check_applications(struct check *c)
{
    struct gs_check_process split = {0}, plain = start_application(c, false);
    if (c->group->n > 1)
        split = start_application(c, true);
    check_split(c, &split, check_plain(c, &plain));
}

static void check_all(struct check *c)
{
    check_devices(c);
    check_daemon(c);
    check_cache(c);
    if (!set_environment(c))
        return;
    check_translator(c);
    check_windows(c);
    check_applications(c);
}

int gs_device_check(const struct gs_group *group, const struct gs_settings *settings, const char *devices,
                    const char *gpus, double limit_s, bool as_json)
{
    struct check c = {.group = group,
                      .settings = settings,
                      .devices = devices,
                      .gpus = gpus,
                      .limit_s = limit_s,
                      .as_json = as_json,
                      .items = json_array()};
    enum { MOST_FILES = 16 };
    const char *tmp = getenv("TMPDIR");
    snprintf(c.dir, sizeof c.dir, "%s/gpusparc-check-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    if (!mkdtemp(c.dir)) {
        gs_error("no folder for what the runs leave, '%s': %s", c.dir, strerror(errno));
        json_decref(c.items);
        return GS_EXIT_FAILED;
    }
    gs_check_begin();
    check_all(&c);
    const bool interrupted = gs_check_interrupted(), works = !interrupted && !*c.failed;
    nftw(c.dir, remove_one, MOST_FILES, FTW_DEPTH | FTW_PHYS);
    gs_check_end();
    char why[320];
    snprintf(why, sizeof why, interrupted ? "interrupted before all was known" : "it doesn't work here: %s", c.failed);
    if (as_json) {
        json_t *all = json_pack("{s:b, s:O}", "works", (int)works, "checks", c.items);
        if (!works)
            json_object_update_new(all, json_pack("{s:s, s:i}", "error", why, "status", GS_EXIT_FAILED));
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    }
    json_decref(c.items);
    fflush(stdout);
    if (!works)
        gs_error("%s", why);
    else if (!as_json)
        puts("gpusparc works here");
    return works ? GS_EXIT_OK : GS_EXIT_FAILED;
}
