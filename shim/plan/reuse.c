/* SPDX-License-Identifier: MIT */
#include "shim/plan/reuse.h"

#include "common/lock/rank.h"

#include <stdlib.h>
#include <string.h>

#include "shim/plan/kinds.h"
#include "shim/process/clock.h"
#include "translator/summary/translate.h"

enum { MOST_KEPT = 16, NAMES = 64, PATIENCE = 4 };

/* What is kept of a program that is gone. */
struct gs_reuse {
    struct gs_reuse *next; /* older ones */
    uint64_t id;
    struct gs_summary *summary;
    cl_program translated[GS_MAX_DEVICES];
    uint64_t text_bytes;
    bool prepared, relaxed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all contexts' lists, and the names below; a leaf */
GS_RANKED(lock, GS_RANK_REUSE);

static void destroy(struct gs_reuse *r)
{
    for (unsigned i = 0; i < GS_MAX_DEVICES; i++)
        if (r->translated[i])
            gs_real()->clReleaseProgram(r->translated[i]);
    gs_summary_free(r->summary);
    free(r);
}

static void destroy_all(struct gs_reuse *r)
{
    while (r) {
        struct gs_reuse *next = r->next;
        destroy(r);
        r = next;
    }
}

/* Headers on disk may have changed when it is built again. */
static bool is_fit(const struct gs_program *p)
{
    return p->summary && !p->refusal && !p->from_binary && !p->summary->headers[0];
}

void gs_reuse_keep(struct gs_program *p)
{
    struct gs_reuse *r = is_fit(p) ? calloc(1, sizeof *r) : NULL, **at;
    if (!r)
        return;
    r->id = gs_program_id_locked(p);
    r->summary = p->summary;
    memcpy(r->translated, p->translated, sizeof r->translated);
    r->text_bytes = atomic_load(&p->text_bytes);
    r->prepared = p->prepared;
    r->relaxed = p->relaxed;
    p->summary = NULL;
    memset(p->translated, 0, sizeof p->translated);
    pthread_mutex_lock(&lock);
    r->next = p->o.ctx->reuse;
    p->o.ctx->reuse = r;
    unsigned n = 0;
    for (at = &p->o.ctx->reuse; *at && n < MOST_KEPT; at = &(*at)->next)
        n++;
    struct gs_reuse *old = *at;
    *at = NULL;
    pthread_mutex_unlock(&lock);
    destroy_all(old);
}

void gs_reuse_take(struct gs_program *p)
{
    if (p->summary || p->refusal || p->prepared || p->from_binary)
        return;
    const uint64_t id = gs_program_id_locked(p);
    pthread_mutex_lock(&lock);
    struct gs_reuse **at = &p->o.ctx->reuse;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct gs_reuse *r = *at;
    if (r)
        *at = r->next;
    pthread_mutex_unlock(&lock);
    if (!r)
        return;
    p->summary = r->summary;
    memcpy(p->translated, r->translated, sizeof p->translated);
    atomic_store(&p->text_bytes, r->text_bytes);
    atomic_store(&p->translation, GS_TRANSLATE_CACHE);
    p->relaxed = r->relaxed;
    p->prepared = r->prepared;
    free(r);
}

void gs_reuse_free(struct gs_context *ctx)
{
    pthread_mutex_lock(&lock);
    struct gs_reuse *all = ctx->reuse;
    ctx->reuse = NULL;
    pthread_mutex_unlock(&lock);
    destroy_all(all);
}

/* ---- texts that differ each time ---- */

/* Of the programs with a kernel of that name: how many of the last were made ready in vain, and what that took. */
static struct name {
    uint64_t hash; /* 0: the place is free */
    unsigned vain;
    uint64_t took_ns;
} names[NAMES];

/* One that isn't there takes the place of another. */
static struct name *find(uint64_t hash)
{
    struct name *n = &names[hash % NAMES];
    if (n->hash != hash)
        *n = (struct name){.hash = hash};
    return n;
}

static uint64_t hash_of(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    return h ? h : 1;
}

/* What several devices may have gained since the first launch, at the most. */
static uint64_t gain_ns(const struct gs_program *p)
{
    const uint64_t since = gs_now_ns() - atomic_load(&p->first_ns), took = atomic_load(&p->prepare_ns);
    return since > took ? (since - took) * (p->o.ctx->n - 1) : 0;
}

bool gs_rebuilt_in_vain(struct gs_kernel *k)
{
    struct gs_program *p = k->program;
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&p->first_ns, &none, gs_now_ns()))
        atomic_store(&p->first_name, hash_of(k->name));
    pthread_mutex_lock(&lock);
    const struct name n = *find(atomic_load(&p->first_name));
    pthread_mutex_unlock(&lock);
    return n.vain >= PATIENCE && gain_ns(p) < n.took_ns;
}

void gs_rebuilt_judge(struct gs_program *p)
{
    const uint64_t name = atomic_load(&p->first_name), took = atomic_load(&p->prepare_ns);
    if (!name || (p->prepared && !took)) /* another's was taken */
        return;
    pthread_mutex_lock(&lock);
    struct name *n = find(name);
    n->took_ns = took ? took : n->took_ns;
    n->vain = gain_ns(p) < n->took_ns ? n->vain + 1 : 0;
    pthread_mutex_unlock(&lock);
    atomic_store(&p->first_name, 0);
    atomic_store(&p->first_ns, 0);
}
