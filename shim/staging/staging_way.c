/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "shim/staging/staging_ring.h"
#include "shim/driver/enqueue.h"
#include "common/clock.h"
#include "shim/order/callbacks.h"

enum {
    LEAST_BYTES = 4 * 1024 * 1024,  /* an H200: written in 0.31 ms instead of 0.51, and read in 0.23 instead of 0.44 */
    LARGE_BYTES = 12 * 1024 * 1024, /* a transfer this large gains by the ring as much as the ring costs */
    LEAST_FORCED = 4096,
    WORTH_BYTES = 64 * 1024 * 1024 /* pinning a ring costs what about so many bytes do; smaller transfers gain half as
                                    * much by it as large ones */
};

/* Cores that threads started here may use: they inherit the affinity of the application's thread. */
static long count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}

bool gs_staging_make_queues(struct gs_staging *s, const struct gs_context *ctx, bool timed)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i <= GS_MAX_DEVICES && !err; i++) {
        const cl_device_id device = i == GS_MAX_DEVICES ? ctx->parent : i < ctx->n ? ctx->dev[i] : NULL;
        if (device && !s->queue[timed][i])
            s->queue[timed][i] =
                gs_real()->clCreateCommandQueue(ctx->o.handle, device, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &err);
    }
    return err == CL_SUCCESS;
}

static bool make(struct gs_staging *s, const struct gs_context *ctx)
{
    const long cores = count_cores();
    s->pool = gs_pool_start(cores >= 24 ? 12 : cores > 3 ? (unsigned)cores / 2 : 1);
    return s->pool && gs_staging_make_queues(s, ctx, false) &&
           gs_pinned_memory_make(&s->memory, ctx, (size_t)GS_SLOTS * GS_SLOT_BYTES, false) == CL_SUCCESS;
}

void gs_staging_free(struct gs_staging *s)
{
    bool idle = true;
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->busy);
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1); i++)
        GS_RELEASE(CommandQueue, s->queue[i % 2][i / 2]);
    for (int i = 0; i < GS_SLOTS; i++)
        if (s->slot[i].used) {
            idle = idle && gs_event_ended(s->slot[i].used);
            gs_real()->clReleaseEvent(s->slot[i].used);
        }
    if (idle) /* else the memory goes with the process */
        gs_pinned_memory_free(&s->memory);
    free(s);
}

/* Has the application pinned this memory itself, by mapping a buffer in the driver's memory or ours? */
static bool is_pinned(const struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    for (const struct gs_mem *m = ctx->mems; m; m = m->next)
        for (const struct gs_mapping *map = m->flags & CL_MEM_USE_HOST_PTR ? NULL : m->mappings; map; map = map->next)
            if ((const char *)ptr >= (const char *)map->ptr &&
                (const char *)ptr + bytes <= (const char *)map->ptr + (map->range.end - map->range.begin))
                return true;
    return false;
}

/* Is the ring there, or is it made now? */
static bool is_there(struct gs_context *ctx, uint64_t bytes)
{
    if (!ctx->staging) {
        ctx->staging = calloc(1, sizeof *ctx->staging);
        if (!ctx->staging)
            return false;
        pthread_mutex_init(&ctx->staging->busy, NULL);
        gs_rank_lock(&ctx->staging->busy, GS_RANK_STAGING_SLOTS);
    }
    struct gs_staging *s = ctx->staging;
    s->seen += bytes < LARGE_BYTES ? bytes / 2 : bytes;
    if (s->state == RING_UNTRIED && !gs_in_callback() &&
        (gs_settings()->transfer == GS_TRANSFER_PINNED || s->seen >= WORTH_BYTES))
        s->state = make(s, ctx) ? RING_MADE : RING_FAILED;
    return s->state == RING_MADE;
}

bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool forced = path == GS_TRANSFER_PINNED;
    const uint64_t least = forced ? LEAST_FORCED : LEAST_BYTES;
    return bytes >= least && ptr && path != GS_TRANSFER_PLAIN && (!ctx->shared_memory || forced) &&
           !gs_group()->remote && !is_pinned(ctx, ptr, bytes) && is_there(ctx, bytes);
}

bool gs_staging_may_carry(struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    return gs_staging_may_fill(ctx, ptr, bytes) && !atomic_load(&ctx->user_events);
}

bool gs_staging_is_ready(const struct gs_events *before, uint64_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. Usually the last slots of the write before are ahead: a millisecond of
     * the link. A longer wait is a kernel's. */
    const uint64_t worth_ns = bytes / 1024 * 30, most_ns = 1500 * 1000;
    return gs_events_ended_by(before, gs_now_ns() + (worth_ns < most_ns ? worth_ns : most_ns));
}

bool gs_staging_queue_idle(struct gs_queue *q, const struct gs_events *before, uint64_t bytes)
{
    cl_event marker;
    if (gs_enqueue_marker(q->o.handle, before->n, before->v, &marker) != CL_SUCCESS)
        return false;
    gs_real()->clFlush(q->o.handle);
    const bool idle = gs_staging_is_ready(&(const struct gs_events){.v = &marker, .n = 1}, bytes);
    gs_real()->clReleaseEvent(marker);
    return idle;
}

bool gs_staging_enter(struct gs_context *ctx, bool wait)
{
    return wait ? pthread_mutex_lock(&ctx->staging->busy) == 0 : pthread_mutex_trylock(&ctx->staging->busy) == 0;
}

void gs_staging_leave(struct gs_context *ctx)
{
    pthread_mutex_unlock(&ctx->staging->busy);
}
