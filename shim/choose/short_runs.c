/* SPDX-License-Identifier: MIT */
/* See timing.h, section short_runs.c. */
#include "shim/choose/timing_book.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "common/cache.h"

enum {
    IN_A_ROW = 3,
    SHARE = 33,               /* a process of so many times the contexts' time would gain 3 % without them */
    WORTH_NS = 10000000,      /* contexts that take less don't matter */
    LONGER = 2,               /* a process on one device that takes so many times as long as those before, ... */
    LONGER_BY_NS = 200000000, /* ... and so much longer, is another case */
};

static struct {
    pthread_mutex_t lock; /* all below */
    bool looked;          /* the cache was asked */
    /* The command's record, in the cache's entry for the key's first digits (4,096 entries at most); empty: unknown. */
    char key[GS_HASH_HEX_BYTES], entry[sizeof "vain-abc"];
    unsigned count;      /* processes in a row, up to IN_A_ROW */
    uint64_t longest_ns; /* of the longest process, from its first context on */
    uint64_t begin_ns;
    double cost_ns; /* time for the further devices of all contexts */
    bool one_device;
} runs = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(runs.lock, GS_RANK_SHORT_RUNS);

static bool make_key(const struct gs_group *g)
{
    struct stat st;
    char cwd[PATH_MAX] = "", arguments[4096];
    struct gs_hash h;
    size_t n;
    if (stat("/proc/self/exe", &st) != 0 || !getcwd(cwd, sizeof cwd))
        return false;
    const uint64_t numbers[] = {st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)gs_settings()->transfer};
    gs_hash_begin(&h);
    gs_hash_add(&h, GS_VERSION, sizeof GS_VERSION);
    gs_hash_add(&h, numbers, sizeof numbers);
    gs_hash_add(&h, &st.st_mtim, sizeof st.st_mtim);
    gs_hash_add_text(&h, cwd);
    gs_devices_hash(g->dev, g->n, &h);
    FILE *f = fopen("/proc/self/cmdline", "re");
    while (f && (n = fread(arguments, 1, sizeof arguments, f)) > 0)
        gs_hash_add(&h, arguments, n);
    if (f)
        fclose(f);
    gs_hash_end_hex(&h, runs.key);
    snprintf(runs.entry, sizeof runs.entry, "vain-%.3s", runs.key);
    return true;
}

/* Reads the command's entry. With the lock held. */
static void look(const struct gs_group *g)
{
    char key[GS_HASH_HEX_BYTES];
    size_t bytes;
    runs.looked = true;
    char *text = !make_key(g) || gs_settings()->forget ? NULL : gs_cache_read(runs.entry, &bytes);
    if (!text || sscanf(text, "%64[0-9a-f] %9u %19" SCNu64, key, &runs.count, &runs.longest_ns) != 3 ||
        strcmp(key, runs.key) != 0 || runs.count > IN_A_ROW)
        runs.longest_ns = runs.count = 0;
    free(text);
    runs.one_device = runs.count == IN_A_ROW;
}

unsigned gs_short_runs_devices(const struct gs_group *g)
{
    const struct gs_settings *s = gs_settings();
    /* Under a daemon a task may move from GPU to GPU; and what the user asks for outright is done. */
    if (s->mode != GS_MODE_AUTO || g->n < 2 || g->shared_memory || s->verify || s->task || s->pace || gs_scheduled())
        return g->n;
    GS_LOCKED(&runs.lock);
    if (!runs.looked)
        look(g);
    return runs.one_device ? 1 : g->n;
}

const char *gs_short_runs_reason(void)
{
    return runs.one_device ? GS_R_SHORT_RUNS : NULL; /* set before there is a context */
}

void gs_short_runs_made(unsigned n, uint64_t took_ns)
{
    GS_LOCKED(&runs.lock);
    if (!runs.begin_ns)
        runs.begin_ns = gs_now_ns() - took_ns;
    runs.cost_ns += 1.5 * (double)took_ns * (n - 1) / n; /* half as much again at their end */
}

/* Was this process, of took_ns, one that ends soon and splits nothing? Counts it. False: the command's entry goes. */
static bool is_vain(uint64_t took_ns)
{
    if (runs.one_device)
        return took_ns < LONGER * runs.longest_ns + LONGER_BY_NS;
    if (runs.cost_ns < (double)WORTH_NS || (double)took_ns > (double)SHARE * runs.cost_ns || gs_book.any_split ||
        gs_later_written())
        return false;
    runs.count += runs.count < IN_A_ROW;
    runs.longest_ns = took_ns > runs.longest_ns ? took_ns : runs.longest_ns;
    return true;
}

/* The process ends: writes or removes the command's entry. No OpenCL calls here. */
__attribute__((destructor)) static void save(void)
{
    char text[128];
    if (gs_forked() || !runs.begin_ns || !gs_lock_soon(&runs.lock))
        return;
    const bool was = runs.count;
    if (*runs.key && is_vain(gs_now_ns() - runs.begin_ns)) {
        const int n = snprintf(text, sizeof text, "%s %u %" PRIu64 "\n", runs.key, runs.count, runs.longest_ns);
        gs_cache_write(runs.entry, text, (size_t)n);
    } else if (was) {
        gs_cache_remove(runs.entry);
    }
    pthread_mutex_unlock(&runs.lock);
}
