/* SPDX-License-Identifier: MIT */
#include "shim/schedule/deferred.h"

/* Threads that read and keep a unit at a time; who comes beyond reads without. */
enum { GS_KEPT = 8 };

static struct {
    uint64_t token; /* 0: nobody's */
    bool has, returns;
    unsigned resource;
    struct gs_grant grant;
} kept[GS_KEPT]; /* gs_deferred_lock */

static _Thread_local uint64_t own; /* this thread's token; 0: it keeps none */

static unsigned place_of(uint64_t token)
{
    unsigned i = 0;
    while (i < GS_KEPT && kept[i].token != token)
        i++;
    return i;
}

void gs_keep_begin(const struct gs_queue *q, size_t bytes)
{
    static uint64_t tokens; /* gs_deferred_lock */
    struct gs_job job;
    gs_job_now(&job);
    if (own || !job.scheduled || bytes > job.transfer_chunk || q->out_of_order)
        return;
    pthread_mutex_lock(&gs_deferred_lock);
    struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const unsigned i = place_of(0);
    if (h && h->resource != GS_RESOURCE_PCI && !h->keep && i < GS_KEPT) {
        own = ++tokens;
        kept[i].token = h->keep = own;
        kept[i].has = false;
        kept[i].returns = !job.told;
        kept[i].resource = h->resource;
    }
    pthread_mutex_unlock(&gs_deferred_lock);
}

bool gs_keeps(struct gs_deferred *h, const struct gs_grant *grant)
{
    bool keeps = false;
    pthread_mutex_lock(&gs_deferred_lock);
    const bool last = ++h->ended == h->units.n;
    const unsigned i = h->keep && last ? place_of(h->keep) : GS_KEPT;
    if (i < GS_KEPT && !kept[i].returns && gs_units_wanted()) {
        kept[i].grant = *grant;
        keeps = kept[i].has = true;
    }
    pthread_mutex_unlock(&gs_deferred_lock);
    return keeps;
}

void gs_keep_return(void)
{
    struct gs_grant grant;
    if (!own)
        return;
    pthread_mutex_lock(&gs_deferred_lock);
    const unsigned i = place_of(own);
    const bool returns = i < GS_KEPT && kept[i].returns;
    const unsigned resource = returns ? kept[i].resource : 0;
    pthread_mutex_unlock(&gs_deferred_lock);
    if (!returns || gs_unit_is_ours(resource))
        return;
    gs_unit_take(resource, &grant);
    pthread_mutex_lock(&gs_deferred_lock);
    kept[i].grant = grant;
    kept[i].has = true;
    pthread_mutex_unlock(&gs_deferred_lock);
}

void gs_keep_end(void)
{
    struct gs_grant grant;
    bool gives = false;
    if (!own)
        return;
    pthread_mutex_lock(&gs_deferred_lock);
    const unsigned i = place_of(own);
    own = 0;
    if (i < GS_KEPT) {
        gives = kept[i].has;
        grant = kept[i].grant;
        kept[i].token = 0;
    }
    pthread_mutex_unlock(&gs_deferred_lock);
    if (gives)
        gs_unit_give(&grant);
}
