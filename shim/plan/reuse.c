/* SPDX-License-Identifier: MIT */
#include "shim/plan/reuse.h"

#include "common/lock/rank.h"

#include <stdlib.h>
#include <string.h>

#include "shim/plan/kinds.h"
#include "translator/summary/translate.h"

enum { MOST_KEPT = 16 };

/* What is kept of a program that is gone. */
struct gs_reuse {
    struct gs_reuse *next; /* older ones */
    uint64_t id;
    struct gs_summary *summary;
    cl_program translated[GS_MAX_DEVICES];
    uint64_t text_bytes;
    bool prepared, relaxed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all contexts' lists; a leaf */
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
