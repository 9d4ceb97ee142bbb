/* SPDX-License-Identifier: MIT */
#include "shim/transfer/staging.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "shim/transfer/pool.h"
#include "shim/watch.h"

enum {
    SLOTS = 16,
    SLOT_BYTES = 4 * 1024 * 1024,
    LEAST_BYTES = 2 * 1024 * 1024, /* below this a transfer is about as fast by itself */
    WORTH_BYTES = 64 * 1024 * 1024 /* pinning the ring costs what about so many bytes do */
};

struct gs_staging {
    cl_mem memory;
    cl_command_queue mapped_by;
    char *base;
    struct gs_pool *pool;
    pthread_mutex_t busy; /* the slots; never waited for with the context's lock held */
    uint64_t seen;        /* bytes of large transfers so far */
    bool failed;
    struct slot {
        struct gs_copy_job job;
        cl_event used; /* the device's last use, or null; owned */
    } slot[SLOTS];
};

static cl_int make_ring(struct gs_staging *s, struct gs_context *ctx)
{
    const size_t bytes = (size_t)SLOTS * SLOT_BYTES;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cl_int err;
    s->memory = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &err);
    if (!err)
        s->mapped_by = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, &err);
    if (!err)
        s->base = gs_real()->clEnqueueMapBuffer(s->mapped_by, s->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                                0, NULL, NULL, &err);
    if (!err && !(s->pool = gs_pool_start(cores >= 16 ? 8 : cores > 3 ? (unsigned)cores / 2 : 1)))
        err = CL_OUT_OF_HOST_MEMORY;
    if (err)
        gs_debug("no pinned ring for the application's transfers (error %d)", err);
    return err;
}

/* Is it memory that the application has pinned itself, by mapping a buffer of that kind? */
static bool is_pinned(const struct gs_context *ctx, const void *ptr, size_t bytes)
{
    for (const struct gs_mem *m = ctx->mems; m; m = m->next)
        for (const struct gs_mapping *map = m->mappings; map; map = map->next)
            if ((const char *)ptr >= (const char *)map->ptr &&
                (const char *)ptr + bytes <= (const char *)map->ptr + (map->range.end - map->range.begin))
                return true;
    return false;
}

bool gs_staging_takes(struct gs_queue *q, const void *ptr, size_t bytes)
{
    struct gs_context *ctx = q->o.ctx;
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool forced = path == GS_TRANSFER_PINNED;
    /* Out of order, the last piece's end would not be everyone's; and while a user event has no status, a call that
     * waits for it must not keep the context's lock. */
    if (q->out_of_order || atomic_load(&ctx->user_events))
        return false;
    if (bytes < LEAST_BYTES || path == GS_TRANSFER_PLAIN || (ctx->shared_memory && !forced) ||
        is_pinned(ctx, ptr, bytes))
        return false;
    if (!ctx->staging) {
        ctx->staging = calloc(1, sizeof *ctx->staging);
        if (!ctx->staging)
            return false;
        pthread_mutex_init(&ctx->staging->busy, NULL);
    }
    struct gs_staging *s = ctx->staging;
    s->seen += bytes;
    if (!s->base && !s->failed && (forced || s->seen >= WORTH_BYTES))
        s->failed = make_ring(s, ctx) != CL_SUCCESS;
    return s->base && !s->failed;
}

bool gs_staging_enter(struct gs_context *ctx, bool wait)
{
    return wait ? pthread_mutex_lock(&ctx->staging->busy) == 0 : pthread_mutex_trylock(&ctx->staging->busy) == 0;
}

void gs_staging_leave(struct gs_context *ctx)
{
    pthread_mutex_unlock(&ctx->staging->busy);
}

bool gs_staging_flows(struct gs_queue *q, size_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. What is usually ahead are the last slots of a write before this one: a
     * millisecond of the link. */
    const uint64_t patience_ns = bytes / 1024 * 30;
    cl_event marker;
    cl_int status = CL_QUEUED;
    if (gs_real()->clEnqueueMarkerWithWaitList(q->o.handle, 0, NULL, &marker) != CL_SUCCESS)
        return false;
    gs_real()->clFlush(q->o.handle);
    for (const uint64_t end = gs_now_ns() + patience_ns; status > CL_COMPLETE && gs_now_ns() < end;)
        if (gs_real()->clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) !=
            CL_SUCCESS)
            break;
    gs_real()->clReleaseEvent(marker);
    return status == CL_COMPLETE;
}

void gs_staging_free(struct gs_staging *s)
{
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->busy);
    for (int i = 0; i < SLOTS; i++)
        if (s->slot[i].used)
            gs_real()->clReleaseEvent(s->slot[i].used);
    if (s->base)
        gs_real()->clEnqueueUnmapMemObject(s->mapped_by, s->memory, s->base, 0, NULL, NULL);
    if (s->mapped_by)
        gs_real()->clReleaseCommandQueue(s->mapped_by);
    if (s->memory)
        gs_real()->clReleaseMemObject(s->memory);
    free(s);
}

static char *memory_of(const struct gs_staging *s, const struct slot *slot)
{
    return s->base + (slot - s->slot) * (ptrdiff_t)SLOT_BYTES;
}

/* Waits until the device has done with a slot. */
static cl_int await_slot(struct slot *slot)
{
    if (!slot->used)
        return CL_SUCCESS;
    cl_int err = gs_real()->clWaitForEvents(1, &slot->used);
    gs_real()->clReleaseEvent(slot->used);
    slot->used = NULL;
    return err;
}

static uint64_t piece_bytes(uint64_t piece, uint64_t bytes)
{
    const uint64_t at = piece * SLOT_BYTES;
    return bytes - at < SLOT_BYTES ? bytes - at : SLOT_BYTES;
}

/* Lets a piece of the application's memory be copied to its slot. */
static cl_int fill(struct gs_staging *s, uint64_t piece, uint64_t bytes, const char *ptr)
{
    struct slot *slot = &s->slot[piece % SLOTS];
    cl_int err = await_slot(slot);
    if (err)
        return err; /* the slot's job is still the one before, which is done */
    slot->job = (struct gs_copy_job){
        .dst = memory_of(s, slot), .src = ptr + piece * SLOT_BYTES, .bytes = (size_t)piece_bytes(piece, bytes)};
    gs_pool_submit(s->pool, &slot->job);
    return CL_SUCCESS;
}

cl_int gs_staging_write(struct gs_queue *q, cl_mem home, uint64_t offset, uint64_t bytes, const void *ptr,
                        cl_uint n_wait, const cl_event *wait, struct gs_events *ended)
{
    struct gs_staging *s = q->o.ctx->staging;
    const uint64_t pieces = (bytes + SLOT_BYTES - 1) / SLOT_BYTES;
    uint64_t filling = 0;
    cl_int err = CL_SUCCESS;
    for (uint64_t i = 0; i < pieces && !err; i++) {
        /* Half the ring is being filled while the device takes the other half. */
        while (filling < pieces && filling < i + SLOTS / 2 && !err)
            err = fill(s, filling++, bytes, ptr);
        struct slot *slot = &s->slot[i % SLOTS];
        if (err)
            break;
        gs_pool_wait(s->pool, &slot->job);
        err = gs_real()->clEnqueueWriteBuffer(q->o.handle, home, CL_FALSE, offset + i * SLOT_BYTES,
                                              (size_t)piece_bytes(i, bytes), memory_of(s, slot), n_wait,
                                              n_wait ? wait : NULL, &slot->used);
        if (!err && (i == 0 || i + 1 == pieces))
            err = gs_events_share(ended, slot->used);
        gs_real()->clFlush(q->o.handle);
    }
    for (uint64_t i = 0; i < SLOTS && i < filling; i++)
        if (s->slot[i].job.bytes)
            gs_pool_wait(s->pool, &s->slot[i].job);
    return err;
}

cl_int gs_staging_read(struct gs_queue *q, cl_command_queue queue, cl_mem mem, uint64_t offset, uint64_t bytes,
                       void *ptr, cl_uint n_wait, const cl_event *wait, struct gs_events *ended)
{
    struct gs_staging *s = q->o.ctx->staging;
    const uint64_t pieces = (bytes + SLOT_BYTES - 1) / SLOT_BYTES;
    uint64_t asked = 0;
    cl_int err = CL_SUCCESS;
    for (uint64_t i = 0; i < pieces && !err; i++) {
        for (; asked < pieces && asked < i + SLOTS / 2 && !err; asked++) {
            struct slot *slot = &s->slot[asked % SLOTS];
            if (asked >= SLOTS)
                gs_pool_wait(s->pool, &slot->job); /* drained to the application's memory */
            err = await_slot(slot);
            if (!err)
                err = gs_real()->clEnqueueReadBuffer(queue, mem, CL_FALSE, offset + asked * SLOT_BYTES,
                                                     (size_t)piece_bytes(asked, bytes), memory_of(s, slot), n_wait,
                                                     n_wait ? wait : NULL, &slot->used);
            if (!err && (asked == 0 || asked + 1 == pieces))
                err = gs_events_share(ended, slot->used);
        }
        gs_real()->clFlush(queue);
        struct slot *slot = &s->slot[i % SLOTS];
        if (!err)
            err = await_slot(slot);
        if (err)
            break;
        slot->job = (struct gs_copy_job){
            .dst = (char *)ptr + i * SLOT_BYTES, .src = memory_of(s, slot), .bytes = (size_t)piece_bytes(i, bytes)};
        gs_pool_submit(s->pool, &slot->job);
    }
    for (uint64_t i = 0; i < SLOTS && i < pieces; i++)
        if (s->slot[i].job.bytes)
            gs_pool_wait(s->pool, &s->slot[i].job);
    return err;
}
