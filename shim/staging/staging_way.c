/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "shim/staging/ring.h"
#include "shim/staging/staging_ring.h"
#include "shim/process/clock.h"
#include "shim/driver/enqueue.h"

enum {
    LEAST_BYTES = 4 * 1024 * 1024,  /* an H200: written in 0.31 ms instead of 0.51, and read in 0.23 instead of 0.44 */
    LARGE_BYTES = 12 * 1024 * 1024, /* what gains by the ring as much as it costs */
    LEAST_FORCED = 4096,
    WORTH_BYTES = 64 * 1024 * 1024 /* pinning a ring costs what about so many bytes do; smaller transfers gain half as
                                    * much by it as large ones */
};

/* Those that the threads started here may use: an application that keeps its own on a few would have all of them there.
 */
static long count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}

static struct gs_pool *pool_of(struct gs_staging *s)
{
    const long cores = count_cores();
    pthread_mutex_lock(&s->making);
    if (!s->pool)
        s->pool = gs_pool_start(cores >= 24 ? 12 : cores > 3 ? (unsigned)cores / 2 : 1);
    pthread_mutex_unlock(&s->making);
    return s->pool;
}

bool gs_staging_ring_make(struct gs_staging_ring *r, struct gs_context *ctx)
{
    if (r->state == RING_UNTRIED) {
        const bool made = pool_of(ctx->staging) &&
                          gs_pinned_memory_take(&r->memory, ctx, (size_t)GS_SLOTS * GS_SLOT_BYTES, true) == CL_SUCCESS;
        r->state = made ? RING_MADE : RING_FAILED;
    }
    return r->state == RING_MADE;
}

static void free_ring(struct gs_staging_ring *r)
{
    struct gs_events uses = {0};
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < GS_SLOTS && !err; i++)
        err = gs_ring_share_running(&uses, &r->slot[i].used);
    if (!err) /* else it is left as it is */
        gs_pinned_memory_give(&r->memory, &uses);
    gs_events_free(&uses);
    for (int i = 0; i < GS_SLOTS; i++)
        gs_events_free(&r->slot[i].used);
}

void gs_staging_free(struct gs_staging *s)
{
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->making);
    pthread_mutex_destroy(&s->busy);
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1); i++)
        if (s->queue[i / (GS_MAX_DEVICES + 1)][i % (GS_MAX_DEVICES + 1)])
            gs_real()->clReleaseCommandQueue(s->queue[i / (GS_MAX_DEVICES + 1)][i % (GS_MAX_DEVICES + 1)]);
    free_ring(&s->here);
    free_ring(&s->beside);
    free(s);
}

/* Is it memory that the application has pinned itself, by mapping a buffer whose memory is the driver's, or ours? */
static bool is_pinned(const struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    for (const struct gs_mem *m = ctx->mems; m; m = m->next)
        for (const struct gs_mapping *map = m->flags & CL_MEM_USE_HOST_PTR ? NULL : m->mappings; map; map = map->next)
            if ((const char *)ptr >= (const char *)map->ptr &&
                (const char *)ptr + bytes <= (const char *)map->ptr + (map->range.end - map->range.begin))
                return true;
    return false;
}

/* Is the ring there, or is it to be made now? */
static bool is_worth(struct gs_staging_ring *r, uint64_t bytes)
{
    const enum ring_state state = r->state;
    r->seen += bytes < LARGE_BYTES ? bytes / 2 : bytes;
    return state == RING_MADE ||
           (state == RING_UNTRIED && (gs_settings()->transfer == GS_TRANSFER_PINNED || r->seen >= WORTH_BYTES));
}

unsigned gs_staging_way_of(struct gs_context *ctx, const void *ptr, uint64_t bytes, bool here)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool forced = path == GS_TRANSFER_PINNED;
    const uint64_t least = forced ? LEAST_FORCED : LEAST_BYTES;
    if (bytes < least || !ptr || path == GS_TRANSFER_PLAIN || (ctx->shared_memory && !forced) || gs_group()->remote ||
        is_pinned(ctx, ptr, bytes))
        return 0;
    if (!ctx->staging) {
        ctx->staging = calloc(1, sizeof *ctx->staging);
        if (!ctx->staging)
            return 0;
        pthread_mutex_init(&ctx->staging->busy, NULL);
        gs_rank_lock(&ctx->staging->busy, GS_RANK_STAGING_SLOTS);
        pthread_mutex_init(&ctx->staging->making, NULL);
        gs_rank_lock(&ctx->staging->making, GS_RANK_STAGING_MAKING);
    }
    if (here)
        return is_worth(&ctx->staging->here, bytes) && gs_staging_ring_make(&ctx->staging->here, ctx) ? GS_FACT_RING
                                                                                                      : 0;
    return is_worth(&ctx->staging->beside, bytes) ? GS_FACT_THREAD : 0;
}

unsigned gs_staging_way(struct gs_queue *q, const void *ptr, uint64_t bytes, bool blocking)
{
    /* Out of order, the last piece's end would not be everyone's; and while a user event has no status, a call that
     * waits for it must not keep the ring. */
    const bool here = blocking && !q->out_of_order && !atomic_load(&q->o.ctx->user_events);
    return gs_staging_way_of(q->o.ctx, ptr, bytes, here);
}

/* Has it ended by then? */
static bool ends_by(cl_event event, uint64_t end_ns)
{
    cl_int status = gs_event_status(event);
    while (status > CL_COMPLETE && gs_now_ns() < end_ns)
        status = gs_event_status(event);
    return status == CL_COMPLETE;
}

bool gs_staging_flows(struct gs_queue *q, const struct gs_events *before, size_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. What is usually ahead are the last slots of a write before this one: a
     * millisecond of the link. What takes longer is a kernel, which a transfer beside the application can wait for. */
    const uint64_t worth_ns = bytes / 1024 * 30, most_ns = 1500 * 1000;
    const uint64_t end_ns = gs_now_ns() + (worth_ns < most_ns ? worth_ns : most_ns);
    bool flows = true;
    cl_event marker;
    for (cl_uint i = 0; i < before->n && flows; i++)
        flows = ends_by(before->v[i], end_ns);
    if (before->n)
        return flows;
    if (gs_enqueue_marker(q->o.handle, 0, NULL, &marker) != CL_SUCCESS)
        return false;
    gs_real()->clFlush(q->o.handle);
    flows = ends_by(marker, end_ns);
    gs_real()->clReleaseEvent(marker);
    return flows;
}

void gs_staging_rouse(struct gs_context *ctx)
{
    pthread_mutex_lock(&ctx->staging->making);
    struct gs_pool *pool = ctx->staging->pool;
    pthread_mutex_unlock(&ctx->staging->making);
    if (pool)
        gs_pool_rouse(pool);
}

bool gs_staging_enter(struct gs_context *ctx, bool wait)
{
    return wait ? pthread_mutex_lock(&ctx->staging->busy) == 0 : pthread_mutex_trylock(&ctx->staging->busy) == 0;
}

void gs_staging_leave(struct gs_context *ctx)
{
    pthread_mutex_unlock(&ctx->staging->busy);
}
