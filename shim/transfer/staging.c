/* SPDX-License-Identifier: MIT */
#include "shim/transfer/staging.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "shim/client.h"
#include "shim/put.h"
#include "shim/report.h"
#include "shim/transfer/fresh.h"
#include "shim/transfer/memory.h"
#include "shim/transfer/spread.h"
#include "shim/watch.h"
#include "shim/within.h"

enum {
    SLOTS = 16,
    SLOT_BYTES = 4 * 1024 * 1024,
    LEAST_PIECE = 1024 * 1024,
    MANY_PIECES = 32,               /* the link is idle before the first, and nothing is copied during the last */
    LEAST_BYTES = 4 * 1024 * 1024,  /* an H200: written in 0.31 ms instead of 0.51, and read in 0.23 instead of 0.44 */
    LARGE_BYTES = 12 * 1024 * 1024, /* what gains by the ring as much as it costs */
    LEAST_FORCED = 4096,
    WORTH_BYTES = 64 * 1024 * 1024 /* pinning a ring costs what about so many bytes do; smaller transfers gain half as
                                    * much by it as large ones */
};

/* By units so many pieces are on the link at a time: one is carried, one stands behind it. Those that came sooner would
 * stand behind gates, which cost 14 us each (an H200). Where nobody else wants the link twice as many may be had. One
 * that goes to several devices is as many. */
enum { ON_LINK_BY_UNITS = 2, ON_LINK_ALONE = 4 };

struct slot {
    struct gs_piece piece;
    struct gs_copy_job job; /* nothing is left of it before the first */
    struct gs_events used;  /* the devices' last use; and of each the queue, which is in order; null:
                             * a unit's, which is of another */
    cl_command_queue queue[GS_MAX_DEVICES];
    uint64_t turn; /* of that use among the ring's */
};

struct ring {
    struct gs_pinned_memory memory;
    uint64_t seen; /* bytes of large transfers so far; the context's lock */
    /* That of beside is made by its thread, while others ask whether it is there. */
    enum ring_state { RING_UNTRIED, RING_MADE, RING_FAILED } _Atomic state;
    struct slot slot[SLOTS];
    uint64_t turns; /* pieces sent */
};

struct gs_staging {
    struct gs_spread spread;
    pthread_mutex_t pool_lock; /* pool */
    struct gs_pool *pool;
    pthread_mutex_t busy; /* here's slots; never waited for with the context's lock held */
    struct ring here, beside;
    pthread_mutex_t queue_lock;                    /* queue; a leaf */
    cl_command_queue queue[2][GS_MAX_DEVICES + 1]; /* for beside: with profiles or not, by place, the parent's last */
    cl_command_queue filling;                      /* for new buffers; the context's lock */
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
    pthread_mutex_lock(&s->pool_lock);
    if (!s->pool)
        s->pool = gs_pool_start(cores >= 24 ? 12 : cores > 3 ? (unsigned)cores / 2 : 1);
    pthread_mutex_unlock(&s->pool_lock);
    return s->pool;
}

static bool make_ring(struct ring *r, struct gs_context *ctx)
{
    if (r->state == RING_UNTRIED) {
        const bool made = pool_of(ctx->staging) &&
                          gs_pinned_memory_take(&r->memory, ctx, (size_t)SLOTS * SLOT_BYTES, true) == CL_SUCCESS;
        r->state = made ? RING_MADE : RING_FAILED;
    }
    return r->state == RING_MADE;
}

static void free_ring(struct ring *r)
{
    bool idle = true;
    for (int i = 0; i < SLOTS; i++) {
        idle = idle && gs_events_ended(&r->slot[i].used);
        gs_events_free(&r->slot[i].used);
    }
    gs_pinned_memory_give(&r->memory, idle);
}

void gs_staging_free(struct gs_staging *s)
{
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->pool_lock);
    pthread_mutex_destroy(&s->queue_lock);
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
    const enum ring_state state = r->state;
    r->seen += bytes < LARGE_BYTES ? bytes / 2 : bytes;
    return state == RING_MADE ||
           (state == RING_UNTRIED && (gs_settings()->transfer == GS_TRANSFER_PINNED || r->seen >= WORTH_BYTES));
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
        pthread_mutex_init(&ctx->staging->queue_lock, NULL);
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

bool gs_staging_flows_after(const struct gs_events *before, size_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. What is usually ahead are the last slots of a write before this one: a
     * millisecond of the link. What takes longer is a kernel, which a transfer beside the application can wait for. */
    const uint64_t worth_ns = bytes / 1024 * 30, most_ns = 1500 * 1000;
    const uint64_t end = gs_now_ns() + (worth_ns < most_ns ? worth_ns : most_ns);
    bool flows = true;
    for (cl_uint i = 0; i < before->n && flows; i++) {
        cl_int status = gs_event_status(before->v[i]);
        while (status > CL_COMPLETE && gs_now_ns() < end)
            status = gs_event_status(before->v[i]);
        flows = status == CL_COMPLETE;
    }
    return flows;
}

bool gs_staging_flows(struct gs_queue *q, size_t bytes)
{
    cl_event marker;
    if (gs_real()->clEnqueueMarkerWithWaitList(q->o.handle, 0, NULL, &marker) != CL_SUCCESS)
        return false;
    gs_real()->clFlush(q->o.handle);
    const bool flows = gs_staging_flows_after(&(struct gs_events){.v = &marker, .n = 1}, bytes);
    gs_real()->clReleaseEvent(marker);
    return flows;
}

bool gs_staging_spreads(const struct gs_context *ctx, uint64_t bytes)
{
    return ctx->staging && gs_spread_pays(&ctx->staging->spread, bytes);
}

void gs_staging_rouse(struct gs_context *ctx)
{
    pthread_mutex_lock(&ctx->staging->pool_lock);
    struct gs_pool *pool = ctx->staging->pool;
    pthread_mutex_unlock(&ctx->staging->pool_lock);
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

/* ---- carrying out ---- */

cl_int gs_staged_note(struct gs_staged_ends *ended, unsigned place, cl_event event)
{
    struct gs_events *e = &ended->events;
    cl_uint known = 0, last = 0;
    for (cl_uint i = 0; i < e->n; i++) {
        known += ended->place[i] == place;
        last = ended->place[i] == place ? i : last;
    }
    if (known < 2) {
        ended->place[e->n] = place;
        return gs_events_add(e, event);
    }
    gs_real()->clReleaseEvent(e->v[last]);
    e->v[last] = event;
    return CL_SUCCESS;
}

/* Transfers under way. */
struct carriage {
    struct gs_spread *spread;
    struct gs_pool *pool;
    struct ring *ring;
    const cl_command_queue *queue; /* by place */
    struct gs_turns turns;
    cl_uint n_wait;
    const cl_event *wait;
    struct gs_staged_ends *ended;
    pthread_mutex_t *lock; /* the context's, where others enqueue in these queues as well; or null */
    size_t on_link;        /* so many pieces are on their way at a time; the others are being filled or drained */
};

static char *memory_of(const struct ring *r, const struct slot *slot)
{
    return r->memory.base + (slot - r->slot) * (ptrdiff_t)SLOT_BYTES;
}

static cl_int await_use(const struct slot *slot)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < slot->used.n; i++) {
        const cl_int one = gs_real()->clWaitForEvents(1, &slot->used.v[i]);
        if (!one && gs_put_by_units())
            gs_link_ended(slot->used.v[i]);
        err = err ? err : one;
    }
    return err;
}

/* Waits until the devices have done with a slot. */
static cl_int await_slot(struct slot *slot)
{
    const cl_int err = await_use(slot);
    gs_events_free(&slot->used);
    return err;
}

/* All of them. */
static cl_int await_slots(struct ring *r)
{
    cl_event all[SLOTS * GS_MAX_DEVICES];
    cl_uint n = 0;
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < SLOTS; i++) {
        const struct gs_events *used = &r->slot[i].used;
        const cl_int one = gs_put_by_units() ? await_use(&r->slot[i]) : CL_SUCCESS;
        for (cl_uint k = 0; k < used->n && !gs_put_by_units(); k++)
            all[n++] = used->v[k];
        err = err ? err : one;
    }
    if (n)
        err = gs_real()->clWaitForEvents(n, all);
    for (cl_uint i = 0; i < n && err; i++) /* it may return when one has failed */
        gs_real()->clWaitForEvents(1, &all[i]);
    for (int i = 0; i < SLOTS; i++)
        gs_events_free(&r->slot[i].used);
    return err;
}

/* What a queue has had of the ring up to that turn has ended. */
static void let_go(struct ring *r, cl_command_queue queue, uint64_t turn)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &r->slot[i];
        struct gs_events *used = &slot->used;
        cl_uint n = 0;
        for (cl_uint k = 0; k < used->n; k++) {
            if (slot->queue[k] == queue && slot->turn <= turn) {
                gs_real()->clReleaseEvent(used->v[k]);
            } else {
                slot->queue[n] = slot->queue[k];
                used->v[n++] = used->v[k];
            }
        }
        used->n = n;
    }
}

static bool is_newest(const struct ring *r, cl_command_queue queue, uint64_t turn)
{
    for (int i = 0; i < SLOTS; i++)
        for (cl_uint k = 0; k < r->slot[i].used.n; k++)
            if (r->slot[i].queue[k] == queue && r->slot[i].turn > turn)
                return false;
    return true;
}

/* What transfers before have left: of each queue its last event is looked at, which tells of all. A wait for each
 * event, all of them ended, took 4 us of NVIDIA's driver (580.159), and sixteen stood before each write. */
static void forget_ended(struct ring *r)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &r->slot[i];
        for (cl_uint k = 0; k < slot->used.n;)
            if (slot->queue[k] && is_newest(r, slot->queue[k], slot->turn) &&
                gs_event_status(slot->used.v[k]) == CL_COMPLETE)
                let_go(r, slot->queue[k], slot->turn);
            else
                k++;
    }
}

/* Lets the slot's piece be copied between the host's memory and the slot. */
static void copy(const struct carriage *c, struct slot *slot)
{
    const struct gs_staged *p = &slot->piece.t;
    const size_t row = p->region[0] * p->element;
    const struct gs_rows there = {memory_of(c->ring, slot), row, row * p->region[1]};
    slot->job = (struct gs_copy_job){.dst = p->write ? there : p->host,
                                     .src = p->write ? p->host : there,
                                     .region = {row, p->region[1], p->region[2]},
                                     .fresh = slot->piece.fresh};
    gs_pool_submit(c->pool, &slot->job);
}

static void await_copy(const struct carriage *c, struct slot *slot)
{
    gs_pool_wait(c->pool, &slot->job);
}

/* What is held back follows what is held back before it in its queue: another thread's command must not come between.
 */
static cl_int enqueue(const struct gs_staged *t, cl_command_queue queue, char *slot, pthread_mutex_t *lock,
                      cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const bool locks = lock && gs_put_by_units();
    if (locks)
        pthread_mutex_lock(lock);
    const cl_int err = gs_staged_enqueue(t, queue, slot, n_wait, wait, event);
    if (locks)
        pthread_mutex_unlock(lock);
    return err;
}

static cl_int send_to(const struct carriage *c, struct slot *slot, const struct gs_staged *t, bool noted)
{
    cl_command_queue queue = c->queue[t->place];
    cl_event event;
    cl_int err = enqueue(t, queue, memory_of(c->ring, slot), c->lock, c->n_wait, c->wait, &event);
    if (err)
        return err;
    if (noted)
        err = gs_real()->clRetainEvent(event);
    if (noted && !err)
        err = gs_staged_note(c->ended, t->place, event);
    slot->queue[slot->used.n] = gs_put_by_units() ? NULL : queue;
    const cl_int kept = gs_events_add(&slot->used, event);
    return err ? err : kept;
}

/* What several devices get is in the slot once. */
static cl_int send(const struct carriage *c, struct slot *slot)
{
    const struct gs_piece *p = &slot->piece;
    struct gs_staged there;
    slot->turn = ++c->ring->turns;
    cl_int err = send_to(c, slot, &p->t, p->first || p->last);
    const struct gs_label before = gs_label_now();
    for (unsigned i = GS_MAX_DEVICES; !err && gs_staged_also(&p->t, &i, &there);) {
        gs_label_way(GS_WAY_PINNED);
        gs_report_moved(GS_PATH_PINNED, gs_staged_bytes(&there));
        err = send_to(c, slot, &there, true);
    }
    gs_label_back(before);
    return err;
}

static void await_copies(const struct carriage *c)
{
    for (size_t i = 0; i < SLOTS && i < c->turns.pieces; i++)
        await_copy(c, &c->ring->slot[i]);
}

static cl_int carry_in(struct carriage *c)
{
    size_t filling = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->turns.pieces && !err; i++) {
        for (; filling < c->turns.pieces && filling < i + SLOTS - c->on_link && !err; filling++) {
            struct slot *next = &c->ring->slot[filling % SLOTS];
            err = await_slot(next);
            if (err)
                break; /* the slot's jobs are still the ones before, which are done */
            next->piece = gs_turns_take(&c->turns);
            copy(c, next);
        }
        struct slot *slot = &c->ring->slot[i % SLOTS];
        if (err)
            break;
        await_copy(c, slot);
        if (i >= c->on_link && gs_put_by_units())
            err = await_use(&c->ring->slot[(i - c->on_link) % SLOTS]);
        if (!err)
            err = send(c, slot);
    }
    await_copies(c);
    return err;
}

/* How many are to have been asked for before piece i is waited for. At first two for each that has come: to ask takes
 * as long as half a piece does on its way, and by then those that copy have something to do. */
static size_t most_asked(const struct carriage *c, size_t i)
{
    const size_t most = i + c->on_link, first = 2 * i + 2;
    return first < most ? first : most;
}

static cl_int carry_out(struct carriage *c)
{
    size_t asked = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->turns.pieces && !err; i++) {
        for (; asked < c->turns.pieces && asked < most_asked(c, i) && !err; asked++) {
            struct slot *slot = &c->ring->slot[asked % SLOTS];
            if (asked >= SLOTS)
                await_copy(c, slot); /* drained to the application's memory */
            err = await_slot(slot);
            slot->piece = gs_turns_take(&c->turns);
            if (!err)
                err = send(c, slot);
        }
        if (i == 0)
            gs_pool_rouse(c->pool);
        struct slot *slot = &c->ring->slot[i % SLOTS];
        if (!err)
            err = await_slot(slot);
        if (err)
            break;
        copy(c, slot);
    }
    await_copies(c);
    return err;
}

/* Pages that are yet to be made: of runs of bytes alone. Those that columns of several devices lie in are huge ones, if
 * they can be, and made by who writes there first. */
static void look_for_fresh(struct gs_cut_transfer *c, unsigned looks)
{
    const struct gs_staged *t = c->t;
    const size_t row = t->region[0] * t->element;
    c->fresh = !t->write && t->region[1] * t->region[2] == 1 && gs_fresh_prepare(t->host.at, row, looks);
    if (!t->write && t->region[1] > 1 && t->region[2] == 1)
        gs_fresh_prepare(t->host.at, (t->region[1] - 1) * t->host.row + row, looks);
}

/* A small transfer goes in smaller pieces, so that filling and sending overlap. Each link has as many pieces on its way
 * as keep it busy. */
static cl_int carry(struct carriage *c, const struct gs_staged *v, unsigned n)
{
    struct gs_turns *turns = &c->turns;
    if (gs_turns_begin(turns, v, n, (size_t)gs_put_most(SLOT_BYTES), LEAST_PIECE, MANY_PIECES) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    if (!gs_put_by_units())
        forget_ended(c->ring);
    c->on_link = turns->most_bytes < SLOT_BYTES || turns->lanes > 1 ? SLOTS / 2 : SLOTS / 4;
    if (gs_put_by_units())
        c->on_link = (size_t)(gs_unit_is_alone(GS_RESOURCE_PCI) ? ON_LINK_ALONE : ON_LINK_BY_UNITS) / (v->also ? 2 : 1);
    const struct gs_label before = gs_label_way(GS_WAY_STAGED);
    for (unsigned i = 0; i < n; i++)
        look_for_fresh(&turns->v[i], n < GS_FRESH_LOOKS / 2 ? GS_FRESH_LOOKS / n : 2);
    const uint64_t begin_ns = gs_now_ns();
    const cl_int err = v->write ? carry_in(c) : carry_out(c);
    if (!err && n == 1 && v->write && !v->image)
        gs_spread_learn(c->spread, v->also, gs_staged_bytes(v), gs_now_ns() - begin_ns);
    gs_label_back(before);
    gs_turns_end(turns);
    return err;
}

static cl_int carry_one(const struct gs_staged *t, cl_command_queue queue, pthread_mutex_t *lock, cl_uint n_wait,
                        const cl_event *wait, struct gs_staged_ends *ended)
{
    cl_event event;
    cl_int err = enqueue(t, queue, NULL, lock, n_wait, wait, &event);
    if (err)
        return err;
    err = gs_real()->clWaitForEvents(1, &event);
    const cl_int kept = gs_staged_note(ended, t->place, event);
    return err ? err : kept;
}

/* By the driver's own way, where there is no ring, or where it has failed: what that has done doesn't count. */
static cl_int carry_directly(const struct gs_staged *v, unsigned n, const cl_command_queue queue[],
                             pthread_mutex_t *lock, cl_uint n_wait, const cl_event *wait, struct gs_staged_ends *ended)
{
    cl_int err = CL_SUCCESS;
    gs_events_free(&ended->events);
    for (unsigned i = 0; i < n && !err; i++) {
        struct gs_staged there;
        err = carry_one(&v[i], queue[v[i].place], lock, n_wait, wait, ended);
        for (unsigned p = GS_MAX_DEVICES; !err && gs_staged_also(&v[i], &p, &there);)
            err = carry_one(&there, queue[p], lock, n_wait, wait, ended);
    }
    return err;
}

static bool has_failed(cl_uint n, const cl_event *events)
{
    for (cl_uint i = 0; i < n; i++)
        if (gs_event_status(events[i]) < 0)
            return true;
    return false;
}

cl_int gs_staging_carry(struct gs_context *ctx, const cl_command_queue queue[], const struct gs_staged *v, unsigned n,
                        cl_uint n_wait, const cl_event *wait, struct gs_staged_ends *ended)
{
    struct carriage c = {.spread = &ctx->staging->spread,
                         .pool = ctx->staging->pool,
                         .ring = &ctx->staging->here,
                         .queue = queue,
                         .n_wait = n_wait,
                         .wait = wait,
                         .ended = ended,
                         .lock = &ctx->lock};
    const cl_int err = carry(&c, v, n);
    if (!err)
        return CL_SUCCESS;
    await_slots(c.ring);
    if (has_failed(n_wait, wait)) /* so would whatever else waits for that */
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    gs_debug("a transfer through the pinned ring failed (error %d)", err);
    return carry_directly(v, n, queue, c.lock, n_wait, wait, ended);
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
    pthread_mutex_lock(&ctx->staging->queue_lock);
    if (!*queue)
        *queue = gs_real()->clCreateCommandQueue(ctx->o.handle, parent ? ctx->parent : ctx->dev[t->place],
                                                 profiling ? CL_QUEUE_PROFILING_ENABLE : 0, err);
    cl_command_queue made = *queue;
    pthread_mutex_unlock(&ctx->staging->queue_lock);
    return made;
}

/* By place, those that the transfers take. */
static cl_int find_queues(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool profiling,
                          cl_command_queue queue[GS_MAX_DEVICES])
{
    const bool timed = profiling || gs_report_wants_times();
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < n && !err; i++) {
        struct gs_staged there;
        queue[v[i].place] = queue_of(ctx, &v[i], timed, &err);
        for (unsigned p = GS_MAX_DEVICES; !err && gs_staged_also(&v[i], &p, &there);)
            queue[p] = queue_of(ctx, &there, timed, &err);
    }
    return err;
}

bool gs_staging_may_go_beside(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool profiling)
{
    cl_command_queue queue[GS_MAX_DEVICES];
    return gs_within_callback() || find_queues(ctx, v, n, profiling, queue) == CL_SUCCESS;
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
    struct gs_staged_ends ended = {0};
    cl_int err = CL_SUCCESS;
    pthread_mutex_lock(&ctx->lock);
    const cl_command_queue queue = filling_queue(ctx, &err);
    pthread_mutex_unlock(&ctx->lock);
    if (err)
        return err;
    gs_staging_enter(ctx, true);
    err = gs_staging_carry(ctx, &queue, &run, 1, 0, NULL, &ended);
    const cl_int end = await_slots(&ctx->staging->here);
    gs_staging_leave(ctx);
    gs_events_free(&ended.events);
    return err ? err : end;
}

/* PoCL (3.1) shows a command's end before it has let go of the objects that the command held: an application that asks
 * how many references there are to its own would see one more. Its clFinish comes after that. */
static void let_go_of_objects(const cl_command_queue queue[])
{
    for (unsigned i = 0; i < GS_MAX_DEVICES && gs_group()->pocl; i++)
        if (queue[i])
            gs_real()->clFinish(queue[i]);
}

cl_int gs_staging_carry_beside(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool profiling,
                               struct gs_staged_ends *ended)
{
    struct gs_staging *s = ctx->staging;
    cl_command_queue queue[GS_MAX_DEVICES] = {NULL};
    struct carriage c = {.spread = &s->spread, .ring = &s->beside, .queue = queue, .ended = ended};
    cl_int err = find_queues(ctx, v, n, profiling, queue);
    if (err)
        return err;
    const bool has_ring = make_ring(c.ring, ctx);
    if (has_ring) {
        c.pool = s->pool;
        err = carry(&c, v, n);
        const cl_int end = await_slots(&s->beside);
        err = err ? err : end;
    }
    if (err)
        gs_debug("a transfer through the pinned ring failed (error %d)", err);
    if (err || !has_ring)
        err = carry_directly(v, n, queue, NULL, 0, NULL, ended);
    let_go_of_objects(queue);
    return err;
}
