/* SPDX-License-Identifier: MIT */
#include "shim/transfer/staging.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "shim/put.h"
#include "shim/report.h"
#include "shim/transfer/fresh.h"
#include "shim/watch.h"

enum {
    SLOTS = 16,
    SLOT_BYTES = 4 * 1024 * 1024,
    LEAST_PIECE = 1024 * 1024,
    LEAST_BYTES = 12 * 1024 * 1024, /* on an H200 4 MiB took 0.46 instead of 0.34 ms, 8 MiB as long as by themselves */
    LEAST_FORCED = 4096,
    WORTH_BYTES = 64 * 1024 * 1024 /* pinning a ring costs what about so many bytes do */
};

struct slot {
    struct gs_copy_job job; /* region[0] is 0: it has had none */
    cl_event used;          /* the device's last use, or null; owned */
};

struct ring {
    cl_mem memory;
    cl_command_queue mapped_by;
    char *base;
    uint64_t seen; /* bytes of large transfers so far; the context's lock */
    bool failed;
    struct slot slot[SLOTS];
};

struct gs_staging {
    pthread_mutex_t pool_lock; /* pool */
    struct gs_pool *pool;
    pthread_mutex_t busy; /* here's slots; never waited for with the context's lock held */
    struct ring here, beside;
    cl_command_queue queue[2][GS_MAX_DEVICES + 1]; /* for beside: with profiles or not, by place, the parent's last */
    cl_command_queue filling;                      /* for new buffers; the context's lock */
};

static struct gs_pool *pool_of(struct gs_staging *s)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_mutex_lock(&s->pool_lock);
    if (!s->pool)
        s->pool = gs_pool_start(cores >= 24 ? 12 : cores > 3 ? (unsigned)cores / 2 : 1);
    pthread_mutex_unlock(&s->pool_lock);
    return s->pool;
}

static bool make_ring(struct ring *r, struct gs_context *ctx)
{
    const size_t bytes = (size_t)SLOTS * SLOT_BYTES;
    cl_int err;
    if (r->base || r->failed)
        return r->base;
    r->memory = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &err);
    if (!err)
        r->mapped_by = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, &err);
    if (!err && !pool_of(ctx->staging))
        err = CL_OUT_OF_HOST_MEMORY;
    if (!err)
        r->base = gs_real()->clEnqueueMapBuffer(r->mapped_by, r->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                                0, NULL, NULL, &err);
    if (err)
        gs_debug("no pinned ring for the application's transfers (error %d)", err);
    r->failed = err != CL_SUCCESS;
    return !err;
}

static void free_ring(struct ring *r)
{
    for (int i = 0; i < SLOTS; i++)
        if (r->slot[i].used)
            gs_real()->clReleaseEvent(r->slot[i].used);
    if (r->base)
        gs_real()->clEnqueueUnmapMemObject(r->mapped_by, r->memory, r->base, 0, NULL, NULL);
    if (r->mapped_by)
        gs_real()->clReleaseCommandQueue(r->mapped_by);
    if (r->memory)
        gs_real()->clReleaseMemObject(r->memory);
}

void gs_staging_free(struct gs_staging *s)
{
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->pool_lock);
    pthread_mutex_destroy(&s->busy);
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1); i++)
        if (s->queue[i / (GS_MAX_DEVICES + 1)][i % (GS_MAX_DEVICES + 1)])
            gs_real()->clReleaseCommandQueue(s->queue[i / (GS_MAX_DEVICES + 1)][i % (GS_MAX_DEVICES + 1)]);
    if (s->filling)
        gs_real()->clReleaseCommandQueue(s->filling);
    free_ring(&s->here);
    free_ring(&s->beside);
    free(s);
}

/* ---- which way ---- */

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
static bool is_worth(struct ring *r, uint64_t bytes)
{
    r->seen += bytes;
    return !r->failed && (r->base || gs_settings()->transfer == GS_TRANSFER_PINNED || r->seen >= WORTH_BYTES);
}

/* With the context's lock held. */
static enum gs_staging_way way_of(struct gs_context *ctx, const void *ptr, uint64_t bytes, bool here)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool forced = path == GS_TRANSFER_PINNED;
    const uint64_t least = forced ? LEAST_FORCED : LEAST_BYTES;
    if (bytes < least || !ptr || path == GS_TRANSFER_PLAIN || (ctx->shared_memory && !forced) ||
        is_pinned(ctx, ptr, bytes))
        return GS_NOT_STAGED;
    if (!ctx->staging) {
        ctx->staging = calloc(1, sizeof *ctx->staging);
        if (!ctx->staging)
            return GS_NOT_STAGED;
        pthread_mutex_init(&ctx->staging->busy, NULL);
        pthread_mutex_init(&ctx->staging->pool_lock, NULL);
    }
    if (here)
        return is_worth(&ctx->staging->here, bytes) && make_ring(&ctx->staging->here, ctx) ? GS_STAGED_HERE
                                                                                           : GS_NOT_STAGED;
    return is_worth(&ctx->staging->beside, bytes) ? GS_STAGED_BESIDE : GS_NOT_STAGED;
}

enum gs_staging_way gs_staging_way(struct gs_queue *q, const void *ptr, uint64_t bytes, bool blocking)
{
    /* Out of order, the last piece's end would not be everyone's; and while a user event has no status, a call that
     * waits for it must not keep the ring. */
    const bool here = blocking && !q->out_of_order && !atomic_load(&q->o.ctx->user_events);
    return way_of(q->o.ctx, ptr, bytes, here);
}

bool gs_staging_flows(struct gs_queue *q, size_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. What is usually ahead are the last slots of a write before this one: a
     * millisecond of the link. What takes longer is a kernel, which a transfer beside the application can wait for. */
    const uint64_t worth_ns = bytes / 1024 * 30, most_ns = 1500 * 1000;
    const uint64_t patience_ns = worth_ns < most_ns ? worth_ns : most_ns;
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

bool gs_staging_enter(struct gs_context *ctx, bool wait)
{
    return wait ? pthread_mutex_lock(&ctx->staging->busy) == 0 : pthread_mutex_trylock(&ctx->staging->busy) == 0;
}

void gs_staging_leave(struct gs_context *ctx)
{
    pthread_mutex_unlock(&ctx->staging->busy);
}

/* ---- pieces ---- */

struct gs_staged gs_staged_run(cl_mem mem, unsigned place, bool write, uint64_t offset, uint64_t bytes, void *ptr)
{
    return (struct gs_staged){.mem = mem,
                              .place = place,
                              .write = write,
                              .element = 1,
                              .origin = {offset},
                              .region = {bytes, 1, 1},
                              .host = {.at = ptr}};
}

/* How a transfer is cut: into pieces of `most` units along each dimension, n[] of them. */
struct cut {
    size_t most[3], n[3];
};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A small one into smaller pieces, so that filling and sending overlap. */
static struct cut cut_of(const struct gs_staged *t)
{
    const size_t row = t->region[0] * t->element, slice = row * t->region[1], all = slice * t->region[2];
    size_t bytes = all / SLOTS > LEAST_PIECE ? all / SLOTS : LEAST_PIECE;
    bytes = least_of(bytes, (size_t)gs_put_most(SLOT_BYTES));
    struct cut c = {{least_of(t->region[0], bytes / t->element), 1, 1}, {0}};
    if (row <= bytes)
        c.most[1] = least_of(t->region[1], bytes / row);
    if (slice <= bytes)
        c.most[2] = least_of(t->region[2], bytes / slice);
    for (int d = 0; d < 3; d++)
        c.n[d] = (t->region[d] + c.most[d] - 1) / c.most[d];
    return c;
}

/* Piece i of them, as a transfer. */
static struct gs_staged piece_of(const struct gs_staged *t, const struct cut *c, size_t i)
{
    const size_t index[3] = {i % c->n[0], i / c->n[0] % c->n[1], i / c->n[0] / c->n[1]};
    struct gs_staged p = *t;
    size_t at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = index[d] * c->most[d];
        p.origin[d] += at[d];
        p.region[d] = least_of(c->most[d], t->region[d] - at[d]);
    }
    p.host.at += at[0] * t->element + at[1] * t->host.row + at[2] * t->host.slice;
    return p;
}

/* Between the device and the host's memory: where p says, or in a slot, where the piece lies without gaps. */
static cl_int enqueue(const struct gs_staged *p, cl_command_queue queue, char *slot, cl_uint n, const cl_event *wait,
                      cl_event *event)
{
    struct gs_op op = {.src = p->write ? NULL : p->mem, .dst = p->write ? p->mem : NULL, .ptr = slot};
    size_t *there = p->write ? op.to : op.from, *pitch = p->write ? op.to_pitch : op.from_pitch;
    size_t *here_pitch = p->write ? op.from_pitch : op.to_pitch;
    const bool rows = p->region[1] * p->region[2] > 1;
    memcpy(there, p->origin, sizeof op.to);
    memcpy(op.region, p->region, sizeof op.region);
    if (!slot) {
        op.ptr = p->host.at;
        here_pitch[0] = p->host.row;
        here_pitch[1] = p->region[2] > 1 ? p->host.slice : 0;
    }
    if (p->image) {
        op.kind = p->write ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE;
    } else if (rows) {
        op.kind = p->write ? GS_OP_WRITE_RECT : GS_OP_READ_RECT;
        pitch[0] = p->row_pitch;
        pitch[1] = p->slice_pitch;
    } else {
        op.kind = p->write ? GS_OP_WRITE : GS_OP_READ;
        there[0] += p->origin[1] * p->row_pitch + p->origin[2] * p->slice_pitch;
    }
    return gs_put(queue, &op, GS_VIA_HOST, n, wait, event);
}

/* ---- carrying out ---- */

/* A transfer under way. */
struct carriage {
    struct gs_pool *pool;
    struct ring *ring;
    cl_command_queue queue;
    const struct gs_staged *t;
    struct cut cut;
    size_t pieces;
    cl_uint n_wait;
    const cl_event *wait;
    struct gs_events *ended;
    size_t on_link; /* so many pieces are on their way at a time; the others are being filled or drained */
    bool fresh;     /* the host's memory is yet to be given pages */
};

static char *memory_of(const struct ring *r, const struct slot *slot)
{
    return r->base + (slot - r->slot) * (ptrdiff_t)SLOT_BYTES;
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

/* All of them: the first error of one. */
static cl_int await_slots(struct ring *r)
{
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < SLOTS; i++) {
        const cl_int one = await_slot(&r->slot[i]);
        err = err ? err : one;
    }
    return err;
}

/* Lets a piece be copied between the host's memory and its slot. */
static void copy(const struct carriage *c, struct slot *slot, size_t i)
{
    const struct gs_staged p = piece_of(c->t, &c->cut, i);
    const size_t row = p.region[0] * p.element;
    const struct gs_rows there = {memory_of(c->ring, slot), row, row * p.region[1]};
    slot->job = (struct gs_copy_job){.dst = p.write ? there : p.host,
                                     .src = p.write ? p.host : there,
                                     .region = {row, p.region[1], p.region[2]},
                                     .streaming = !p.write,
                                     .fresh = c->fresh};
    gs_pool_submit(c->pool, &slot->job);
}

static cl_int send(const struct carriage *c, struct slot *slot, size_t i)
{
    const struct gs_staged p = piece_of(c->t, &c->cut, i);
    cl_int err = enqueue(&p, c->queue, memory_of(c->ring, slot), c->n_wait, c->wait, &slot->used);
    if (err)
        slot->used = NULL;
    else if (i == 0 || i + 1 == c->pieces)
        err = gs_events_share(c->ended, slot->used);
    return err;
}

static void await_copies(const struct carriage *c)
{
    for (size_t i = 0; i < SLOTS && i < c->pieces; i++)
        if (c->ring->slot[i].job.region[0])
            gs_pool_wait(c->pool, &c->ring->slot[i].job);
}

static cl_int carry_in(const struct carriage *c)
{
    size_t filling = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->pieces && !err; i++) {
        for (; filling < c->pieces && filling < i + SLOTS - c->on_link && !err; filling++) {
            struct slot *next = &c->ring->slot[filling % SLOTS];
            err = await_slot(next);
            if (err)
                break; /* the slot's job is still the one before, which is done */
            copy(c, next, filling);
        }
        struct slot *slot = &c->ring->slot[i % SLOTS];
        if (err)
            break;
        gs_pool_wait(c->pool, &slot->job);
        err = send(c, slot, i);
        gs_real()->clFlush(c->queue);
    }
    await_copies(c);
    return err;
}

static cl_int carry_out(const struct carriage *c)
{
    size_t asked = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->pieces && !err; i++) {
        for (; asked < c->pieces && asked < i + c->on_link && !err; asked++) {
            struct slot *slot = &c->ring->slot[asked % SLOTS];
            if (asked >= SLOTS)
                gs_pool_wait(c->pool, &slot->job); /* drained to the application's memory */
            err = await_slot(slot);
            if (!err)
                err = send(c, slot, asked);
        }
        gs_real()->clFlush(c->queue);
        struct slot *slot = &c->ring->slot[i % SLOTS];
        if (!err)
            err = await_slot(slot);
        if (err)
            break;
        copy(c, slot, i);
    }
    await_copies(c);
    return err;
}

static cl_int carry(struct carriage *c)
{
    c->cut = cut_of(c->t);
    c->pieces = c->cut.n[0] * c->cut.n[1] * c->cut.n[2];
    c->on_link = c->cut.most[0] * c->cut.most[1] * c->cut.most[2] * c->t->element < SLOT_BYTES ? SLOTS / 2 : SLOTS / 4;
    const struct gs_label before = gs_label_way(GS_WAY_STAGED);
    c->fresh = !c->t->write && c->t->region[1] * c->t->region[2] == 1 &&
               gs_fresh_prepare(c->t->host.at, c->t->region[0] * c->t->element);
    const cl_int err = c->t->write ? carry_in(c) : carry_out(c);
    gs_label_back(before);
    return err;
}

cl_int gs_staging_carry(struct gs_context *ctx, cl_command_queue queue, const struct gs_staged *t, cl_uint n_wait,
                        const cl_event *wait, struct gs_events *ended)
{
    struct carriage c = {.pool = ctx->staging->pool,
                         .ring = &ctx->staging->here,
                         .queue = queue,
                         .t = t,
                         .n_wait = n_wait,
                         .wait = wait,
                         .ended = ended};
    return carry(&c);
}

static cl_command_queue filling_queue(struct gs_context *ctx, cl_int *err)
{
    cl_command_queue *queue = &ctx->staging->filling;
    if (!*queue)
        *queue = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, err);
    return *queue;
}

/* PoCL takes image commands only on a queue of the sub-devices' parent: see gs_image_queue(). */
static cl_command_queue queue_of(struct gs_context *ctx, const struct gs_staged *t, bool profiling, cl_int *err)
{
    const bool parent = t->image && ctx->parent;
    cl_command_queue *queue = &ctx->staging->queue[profiling][parent ? GS_MAX_DEVICES : t->place];
    *err = CL_SUCCESS;
    if (!*queue)
        *queue = gs_real()->clCreateCommandQueue(ctx->o.handle, parent ? ctx->parent : ctx->dev[t->place],
                                                 profiling ? CL_QUEUE_PROFILING_ENABLE : 0, err);
    return *queue;
}

bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    pthread_mutex_lock(&ctx->lock);
    const bool may = way_of(ctx, ptr, bytes, true) == GS_STAGED_HERE;
    pthread_mutex_unlock(&ctx->lock);
    return may;
}

cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes)
{
    const struct gs_staged run = gs_staged_run(mem, 0, true, 0, bytes, ptr);
    struct gs_events ended = {0};
    cl_int err = CL_SUCCESS;
    pthread_mutex_lock(&ctx->lock);
    cl_command_queue queue = filling_queue(ctx, &err);
    pthread_mutex_unlock(&ctx->lock);
    if (err)
        return err;
    gs_staging_enter(ctx, true);
    err = gs_staging_carry(ctx, queue, &run, 0, NULL, &ended);
    const cl_int end = await_slots(&ctx->staging->here);
    gs_staging_leave(ctx);
    gs_events_free(&ended);
    return err ? err : end;
}

/* By the driver's own way, where there is no ring, or where it has failed. */
static cl_int carry_directly(const struct gs_staged *t, cl_command_queue queue, struct gs_events *ended)
{
    cl_event event;
    cl_int err = enqueue(t, queue, NULL, 0, NULL, &event);
    if (!err)
        err = gs_events_add(ended, event);
    return err ? err : gs_real()->clWaitForEvents(1, &event);
}

cl_int gs_staging_carry_beside(struct gs_context *ctx, const struct gs_staged *t, bool profiling,
                               struct gs_events *ended)
{
    struct gs_staging *s = ctx->staging;
    struct carriage c = {.ring = &s->beside, .t = t, .ended = ended};
    cl_int err;
    c.queue = queue_of(ctx, t, profiling || gs_report_wants_times(), &err);
    if (err)
        return err;
    if (!make_ring(c.ring, ctx))
        return carry_directly(t, c.queue, ended);
    c.pool = s->pool;
    err = carry(&c);
    const cl_int end = await_slots(&s->beside);
    if (!err && !end)
        return CL_SUCCESS;
    gs_debug("a transfer through the pinned ring failed (error %d)", err ? err : end);
    return carry_directly(t, c.queue, ended);
}
