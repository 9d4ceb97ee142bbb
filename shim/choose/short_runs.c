/* SPDX-License-Identifier: MIT */
#include "shim/choose/short_runs.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/cache.h"
#include "common/hash.h"
#include "shim/client/client.h"
#include "shim/choose/timing.h"
#include "common/clock.h"
#include "common/reasons.h"

enum {
    IN_A_ROW = 3,
    SHARE = 33,               /* what a process of so many times the contexts' time would gain without them is 3 % */
    WORTH_NS = 10000000,      /* contexts that take less aren't looked at */
    LONGER = 2,               /* a process on one device that takes so much longer than those before is another case */
    LONGER_BY_NS = 200000000, /* and this */
    MOST_LINES = 500,
    KEY_HEX = 32,
    LINE_BYTES = 128,
};

static const char file[] = "vain-1", of_a_row[] = GS_R_SHORT_RUNS;

/* What is known of one command. */
struct past {
    char key[KEY_HEX + 1];
    unsigned count;      /* processes in a row, up to IN_A_ROW */
    uint64_t longest_ns; /* that they took from their first context on */
};

static struct {
    pthread_mutex_t lock; /* all below */
    bool looked, used;    /* the past has been read; there was a context */
    struct past past;
    uint64_t begin_ns;
    double cost_ns; /* of the contexts' further devices */
    bool one_device;
} runs = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(runs.lock, GS_RANK_SHORT_RUNS);

/* The whole of a small file of /proc. */
static void add_proc(struct gs_hash *h, const char *path)
{
    char bytes[4096];
    FILE *f = fopen(path, "re");
    size_t n;
    if (!f)
        return;
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        gs_hash_add(h, bytes, n);
    fclose(f);
}

static bool make_key(const struct gs_group *g)
{
    struct stat st;
    char cwd[PATH_MAX] = "", driver[256] = "", hex[GS_HASH_HEX_BYTES];
    struct gs_hash h;
    if (stat("/proc/self/exe", &st) != 0 || !getcwd(cwd, sizeof cwd))
        return false;
    gs_real()->clGetDeviceInfo(g->dev[0], CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    const uint64_t numbers[] = {st.st_dev,
                                st.st_ino,
                                (uint64_t)st.st_size,
                                (uint64_t)st.st_mtim.tv_sec,
                                (uint64_t)st.st_mtim.tv_nsec,
                                g->n,
                                (uint64_t)gs_settings()->transfer};
    gs_hash_begin(&h);
    gs_hash_add(&h, GS_VERSION, sizeof GS_VERSION);
    gs_hash_add(&h, numbers, sizeof numbers);
    gs_hash_add_text(&h, cwd);
    gs_hash_add_text(&h, driver);
    add_proc(&h, "/proc/self/cmdline");
    gs_hash_end_hex(&h, hex);
    memcpy(runs.past.key, hex, KEY_HEX);
    return true;
}

/* A line, and of its first bytes a sum behind them. */
static void print_line(FILE *f, const struct past *p)
{
    char line[LINE_BYTES], sum[GS_HASH_HEX_BYTES];
    const int n = snprintf(line, sizeof line, "%s %u %" PRIu64 " ", p->key, p->count, p->longest_ns);
    gs_hash_hex(line, (size_t)n, sum);
    fprintf(f, "%s%.8s\n", line, sum);
}

static bool parse_line(const char *line, struct past *p)
{
    char sum[GS_HASH_HEX_BYTES], kept[9];
    int n = 0;
    if (sscanf(line, "%32[0-9a-f] %1u %19" SCNu64 " %n%8[0-9a-f]", p->key, &p->count, &p->longest_ns, &n, kept) != 4 ||
        strlen(p->key) != KEY_HEX)
        return false;
    gs_hash_hex(line, (size_t)n, sum);
    return strlen(kept) == 8 && memcmp(sum, kept, 8) == 0;
}

/* Finds this command's line. With the lock held. */
static void find_line(const struct gs_group *g)
{
    size_t bytes;
    if (!make_key(g))
        return;
    runs.used = true;
    char *text = gs_settings()->forget ? NULL : gs_cache_read(file, &bytes), *rest = NULL;
    struct past p;
    for (const char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !runs.past.count;
         line = strtok_r(NULL, "\n", &rest))
        if (parse_line(line, &p) && strcmp(p.key, runs.past.key) == 0)
            runs.past = p;
    free(text);
    runs.one_device = runs.past.count >= IN_A_ROW;
}

/* Under a daemon a task may move from GPU to GPU; and what is asked for outright is done. */
static bool is_meant(const struct gs_group *g)
{
    const struct gs_settings *s = gs_settings();
    return s->mode == GS_MODE_AUTO && g->n > 1 && !g->shared_memory && !s->verify && !s->task && !s->pace &&
           !gs_scheduled();
}

unsigned gs_short_runs_devices(const struct gs_group *g)
{
    if (!is_meant(g))
        return g->n;
    GS_LOCKED(&runs.lock);
    if (!runs.looked)
        find_line(g);
    runs.looked = true;
    return runs.one_device ? 1 : g->n;
}

const char *gs_short_runs_reason(void)
{
    return runs.one_device ? of_a_row : NULL; /* set before there is a context */
}

void gs_short_runs_made(unsigned n, uint64_t took_ns)
{
    GS_LOCKED(&runs.lock);
    if (!runs.begin_ns)
        runs.begin_ns = gs_now_ns() - took_ns;
    runs.cost_ns += 1.5 * (double)took_ns * (n - 1) / n; /* and half as much at their end */
}

/* The line as it is to be after this process, which took so long; false: there is to be none. */
static bool is_vain(uint64_t took_ns)
{
    if (runs.one_device)
        return took_ns < LONGER * runs.past.longest_ns + LONGER_BY_NS;
    if (runs.cost_ns < (double)WORTH_NS || (double)took_ns > (double)SHARE * runs.cost_ns || gs_timing_any_split())
        return false;
    runs.past.count += runs.past.count < IN_A_ROW;
    runs.past.longest_ns = took_ns > runs.past.longest_ns ? took_ns : runs.past.longest_ns;
    return true;
}

/* The process ends: its command's line comes first, or goes. No OpenCL calls here. */
__attribute__((destructor)) static void save(void)
{
    const struct timespec soon = {time(NULL) + 1, 0};
    char *now = NULL;
    size_t bytes = 0;
    if (gs_forked() || !runs.begin_ns || pthread_mutex_timedlock(&runs.lock, &soon) != 0)
        return;
    const bool was = runs.past.count, kept = runs.used && is_vain(gs_now_ns() - runs.begin_ns);
    if (kept || (runs.used && was)) {
        char *others = gs_cache_read(file, &bytes), *rest = NULL;
        FILE *f = open_memstream(&now, &bytes);
        struct past p;
        if (f && kept)
            print_line(f, &runs.past);
        unsigned n = 1;
        for (const char *line = others ? strtok_r(others, "\n", &rest) : NULL; f && line && n < MOST_LINES;
             line = strtok_r(NULL, "\n", &rest))
            if (parse_line(line, &p) && strcmp(p.key, runs.past.key) != 0) {
                print_line(f, &p);
                n++;
            }
        if (f && fclose(f) == 0)
            gs_cache_write(file, now, bytes);
        free(now);
        free(others);
    }
    pthread_mutex_unlock(&runs.lock);
}
