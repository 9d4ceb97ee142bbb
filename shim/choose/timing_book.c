/* SPDX-License-Identifier: MIT */
/* The book of kernels, and the files that it comes from and goes to (of shim/choose/timing.h). */
#include "shim/choose/timing_book.h"

#include <limits.h>
#include <stdio.h>

#include "common/lock/rank.h"
#include "common/cache.h"
#include "common/log.h"
#include "common/spawn.h"
#include "shim/choose/learnt.h"

struct gs_book gs_book = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(gs_book.lock, GS_RANK_BOOK);

__attribute__((constructor)) static void begin(void)
{
    gs_book.budget.begin_ns = gs_now_ns();
}

/* Where nothing has been learnt: measured on two H200 (bench/results/h200x2.md) and on PoCL's sub-devices. Of several
 * hosts, should their links not be measured: 1 Gbit/s to each and a round trip of 1 ms. Beyond its longest part a split
 * takes two H200 20 to 40 us; the rest is what the host's calls may add. */
static struct gs_machine first_guess(const struct gs_group *g)
{
    if (g->remote)
        return (struct gs_machine){.link = {{2e6, 16}, {2e6, 16}}, .split_ns = 2e6, .first_ns = 1e7};
    if (g->shared_memory)
        return (struct gs_machine){.link = {{1e4, 0.2}, {1e4, 0.2}}, .split_ns = 3e4, .first_ns = 3e5};
    return (struct gs_machine){.link = {{4e4, 0.05}, {25e3, 0.004}}, .split_ns = 4e4 + 2e4 * g->n, .first_ns = 15e5};
}

bool gs_book_is_kept(const struct gs_context *ctx)
{
    return gs_learns() && ctx->n > 1 && !gs_settings()->verify;
}

/* The least share for a part of that size; 0 if the driver chooses the work-groups, or devices differ. */
static double least_part(const struct gs_size *s)
{
    const struct gs_group *g = gs_group();
    uint64_t groups = 1;
    for (unsigned d = 0; d < 3 && s->size[3 + d]; d++)
        groups *= (s->size[d] + s->size[3 + d] - 1) / s->size[3 + d];
    return s->size[3] && s->program && !g->unlike ? gs_choice_least_part(groups, g->units[0]) : 0;
}

struct gs_timing *gs_book_of(struct gs_size *s)
{
    if (s->choice)
        return s->choice;
    struct gs_timing *t = s->choice = calloc(1, sizeof *t);
    if (t) {
        t->at = s;
        gs_history_init(&t->h);
        t->h.least_part = least_part(s);
    }
    return t;
}

struct gs_timing *gs_book_next(const struct gs_timing *t, uint64_t program, const char *name, unsigned n)
{
    struct gs_size *s = t ? t->at->older : gs_sizes();
    while (s && (!s->choice || s->program != program || s->n != n || (name && strcmp(s->name, name) != 0)))
        s = s->older;
    return s ? s->choice : NULL;
}

/* Takes the machine's figures from measured links, unless splits have corrected them. With the lock held. */
static void use_links(const struct gs_links *links)
{
    const struct gs_link_cost *cost[GS_LINKS] = {[GS_LINK_HOST] = &links->host, [GS_LINK_PEER] = &links->peer};
    for (int l = 0; l < GS_LINKS && !gs_book.machine_learnt; l++) {
        if (!(cost[l]->piece_ns > 0) || !(cost[l]->byte_ns > 0))
            continue;
        /* The same bounds as in learn_machine() of choice_learn.c. */
        gs_book.machine.link[l].piece_ns = gs_min(gs_max(cost[l]->piece_ns, 1e3), GS_MOST_NS);
        gs_book.machine.link[l].byte_ns = gs_min(gs_max(cost[l]->byte_ns, 0.001), GS_MOST_BYTE_NS);
        if (gs_group()->remote) /* a launch there, and hearing of its end, cost as much as a transfer of nothing */
            gs_book.machine.split_ns = gs_book.machine.link[l].piece_ns;
        gs_debug("between devices, %s: %.0f ns for a transfer, %.4f for a byte",
                 l == GS_LINK_PEER ? "by windows" : "through the host", cost[l]->piece_ns, cost[l]->byte_ns);
    }
}

static bool read_learnt(struct gs_learnt *l)
{
    size_t bytes = 0;
    char *text = gs_settings()->forget ? NULL : gs_cache_read(gs_book.learnt_name, &bytes);
    const bool good = text && gs_learnt_parse(l, text, bytes) == 0;
    free(text);
    return good;
}

/* Has a process measure transfers between the devices. Over hosts that takes a few seconds, for connections. A later
 * probe would wait for this application's kernels: a CPU's server does one thing after the other. Other threads go on
 * meanwhile, by the first guess. name: the cache's entry of the links. */
static void measure_links(const char *name)
{
    enum { TIMEOUT_MS = 30000 };
    char path[PATH_MAX], request[512], *answer = NULL;
    const char *how = "";
    size_t bytes = 0;
    if (gs_scheduled()) { /* the probe's transfers would have no units */
        gs_debug("the links aren't measured under a daemon: `gpusparc devices --measure` does it");
        return;
    }
    const size_t n = gs_links_request(gs_settings(), "brief", request, sizeof request);
    snprintf(path, sizeof path, "%s/gpusparc-link-probe", gs_library_dir());
    if (gs_spawn(path, request, n, TIMEOUT_MS, 0, &answer, &bytes, &how) == 0) {
        const struct gs_links links = gs_links_parse(answer, bytes);
        gs_links_write(name, &links);
        GS_LOCKED(&gs_book.lock);
        use_links(&links);
    } else {
        gs_debug("the probe of the links %s", how);
    }
    free(answer);
}

/* Reads the book, with the lock held. name: gets the cache's entry of the links. True: they are to be measured. */
static bool read_book(const struct gs_context *ctx, char name[GS_LINKS_NAME_BYTES])
{
    struct gs_learnt l = {0};
    /* What is learnt holds for these devices, this driver, and this way between devices. */
    gs_links_name(ctx->dev, ctx->n, gs_group()->shared_memory, gs_settings()->transfer, name);
    snprintf(gs_book.learnt_name, sizeof gs_book.learnt_name, "learnt-%s", name + sizeof "links-" - 1);
    gs_book.machine = read_learnt(&l) ? l.machine : first_guess(gs_group());
    gs_book.machine.unlike = gs_group()->unlike; /* this and the next nobody learns */
    gs_book.machine.compiles = gs_group()->type & CL_DEVICE_TYPE_CPU;
    const struct gs_links links = gs_links_read(name);
    for (size_t i = 0; i < l.n; i++) {
        const struct gs_learnt_kernel *k = &l.v[i];
        struct gs_size *size = gs_size_make(k->program, k->name, (unsigned)k->n, k->size);
        struct gs_timing *t = size ? gs_book_of(size) : NULL;
        if (!t)
            continue;
        gs_learnt_begin(k, &t->h);
        gs_book.machine_learnt |= k->split_ns > 0;
        t->h.least_part = least_part(t->at);
        if (gs_book.machine.unlike) /* devices may have changed */
            gs_balance_begin_again(&t->h.balance);
        t->prepare_ns = (double)k->prepare_ns;
    }
    use_links(&links);
    gs_learnt_free(&l);
    return gs_group()->remote && !(links.host.piece_ns > 0) && gs_settings()->mode == GS_MODE_AUTO;
}

void gs_book_open(const struct gs_context *ctx)
{
    static atomic_bool open;
    char name[GS_LINKS_NAME_BYTES];
    if (atomic_load(&open))
        return;
    pthread_mutex_lock(&gs_book.lock);
    const bool measures = !atomic_load(&open) && read_book(ctx, name);
    atomic_store(&open, true);
    pthread_mutex_unlock(&gs_book.lock);
    if (measures)
        measure_links(name);
}

/* The process ends: writes its own records, and behind them other processes' records. No OpenCL calls here. */
__attribute__((destructor)) static void save(void)
{
    struct gs_learnt mine = {0}, others = {0};
    size_t bytes;
    int err = 0;
    if (gs_forked() || !gs_book.learnt_name[0] || !gs_lock_soon(&gs_book.lock))
        return;
    mine.machine = gs_book.machine;
    for (const struct gs_size *s = gs_sizes(); s && !err; s = s->older) {
        const struct gs_timing *t = s->choice;
        if (!t || !t->used || !s->program || !t->h.launches || strlen(s->name) >= GS_LEARNT_NAME_BYTES ||
            !gs_learnt_may_gain(&t->h, &gs_book.machine, s->n))
            continue;
        struct gs_learnt_kernel k = {.program = s->program, .n = s->n, .prepare_ns = (uint64_t)t->prepare_ns};
        memcpy(k.size, s->size, sizeof k.size);
        memcpy(k.name, s->name, strlen(s->name));
        gs_learnt_keep(&k, &t->h);
        err = gs_learnt_add(&mine, &k);
    }
    pthread_mutex_unlock(&gs_book.lock);
    const size_t own = mine.n;
    if (own && read_learnt(&others))
        for (size_t i = 0; i < others.n && !err; i++)
            err = gs_learnt_add(&mine, &others.v[i]);
    char *text = own && !err ? gs_learnt_print(&mine, &bytes) : NULL;
    if (text)
        gs_cache_write(gs_book.learnt_name, text, bytes);
    free(text);
    gs_learnt_free(&mine);
    gs_learnt_free(&others);
    gs_later_end();
}
