/* SPDX-License-Identifier: MIT */
#include "shim/staging/staging.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "shim/client/client.h"
#include "shim/put/put.h"
#include "shim/report/report.h"
#include "shim/staging/prefault.h"
#include "shim/staging/staging_ring.h"
#include "shim/report/watch.h"
#include "shim/order/callbacks.h"

enum {
    LEAST_PIECE = 1024 * 1024,
    MANY_PIECES = 32, /* the link is idle before the first, and nothing is copied during the last */
};

/* By units so many pieces are on the link at a time: one is carried, one stands behind it. Those that came sooner would
 * stand behind gates, which cost 14 us each (an H200). Where nobody else wants the link twice as many may be had. One
 * that goes to several devices is as many. */
enum { ON_LINK_BY_UNITS = 2, ON_LINK_ALONE = 4 };

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
    struct gs_pool *pool;
    struct gs_staging_ring *ring;
    const cl_command_queue *queue; /* by place */
    struct gs_turns turns;
    cl_uint n_wait;
    const cl_event *wait;
    struct gs_staged_ends *ended;
    pthread_mutex_t *lock; /* the context's, where others enqueue in these queues as well; or null */
    size_t on_link;        /* so many pieces are on their way at a time; the others are being filled or drained */
};

static char *memory_of(const struct gs_staging_ring *r, const struct gs_slot *slot)
{
    return r->memory.base + (slot - r->slot) * (ptrdiff_t)GS_SLOT_BYTES;
}

static cl_int await_use(const struct gs_slot *slot)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < slot->used.n; i++) {
        const cl_int one = gs_real()->clWaitForEvents(1, &slot->used.v[i]);
        if (!one && gs_put_now())
            gs_link_ended(slot->used.v[i]);
        err = err ? err : one;
    }
    return err;
}

/* Waits until the devices have done with a slot. */
static cl_int await_slot(struct gs_slot *slot)
{
    const cl_int err = await_use(slot);
    gs_events_free(&slot->used);
    return err;
}

/* All of them. */
static cl_int await_slots(struct gs_staging_ring *r)
{
    cl_event all[GS_SLOTS * GS_MAX_DEVICES];
    cl_uint n = 0;
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < GS_SLOTS; i++) {
        const struct gs_events *used = &r->slot[i].used;
        const cl_int one = gs_put_now() ? await_use(&r->slot[i]) : CL_SUCCESS;
        for (cl_uint k = 0; k < used->n && !gs_put_now(); k++)
            all[n++] = used->v[k];
        err = err ? err : one;
    }
    if (n)
        err = gs_real()->clWaitForEvents(n, all);
    for (cl_uint i = 0; i < n && err; i++) /* it may return when one has failed */
        gs_real()->clWaitForEvents(1, &all[i]);
    for (int i = 0; i < GS_SLOTS; i++)
        gs_events_free(&r->slot[i].used);
    return err;
}

/* What a queue has had of the ring up to that turn has ended. */
static void free_slots(struct gs_staging_ring *r, cl_command_queue queue, uint64_t turn)
{
    for (int i = 0; i < GS_SLOTS; i++) {
        struct gs_slot *slot = &r->slot[i];
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

static bool is_newest(const struct gs_staging_ring *r, cl_command_queue queue, uint64_t turn)
{
    for (int i = 0; i < GS_SLOTS; i++)
        for (cl_uint k = 0; k < r->slot[i].used.n; k++)
            if (r->slot[i].queue[k] == queue && r->slot[i].turn > turn)
                return false;
    return true;
}

/* What transfers before have left: of each queue its last event is looked at, which tells of all. A wait for each
 * event, all of them ended, took 4 us of NVIDIA's driver (580.159), and sixteen stood before each write. */
static void forget_ended(struct gs_staging_ring *r)
{
    for (int i = 0; i < GS_SLOTS; i++) {
        struct gs_slot *slot = &r->slot[i];
        for (cl_uint k = 0; k < slot->used.n;)
            if (slot->queue[k] && is_newest(r, slot->queue[k], slot->turn) &&
                gs_event_status(slot->used.v[k]) == CL_COMPLETE)
                free_slots(r, slot->queue[k], slot->turn);
            else
                k++;
    }
}

/* Lets the slot's piece be copied between the host's memory and the slot. */
static void copy(const struct carriage *c, struct gs_slot *slot)
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

/* What is held back follows what is held back before it in its queue: another thread's command must not come between.
 */
static cl_int enqueue(const struct carriage *c, const struct gs_staged *t, char *slot, cl_event *event)
{
    const bool locks = c->lock && gs_put_now();
    if (locks)
        pthread_mutex_lock(c->lock);
    const cl_int err = gs_staged_enqueue(t, c->queue[t->place], slot, c->n_wait, c->wait, event);
    if (locks)
        pthread_mutex_unlock(c->lock);
    return err;
}

static cl_int send_to(const struct carriage *c, struct gs_slot *slot, const struct gs_staged *t, bool noted)
{
    cl_event event;
    cl_int err = enqueue(c, t, memory_of(c->ring, slot), &event);
    if (err)
        return err;
    if (noted)
        err = gs_real()->clRetainEvent(event);
    if (noted && !err)
        err = gs_staged_note(c->ended, t->place, event);
    slot->queue[slot->used.n] = gs_put_now() ? NULL : c->queue[t->place];
    const cl_int kept = gs_events_add(&slot->used, event);
    return err ? err : kept;
}

/* What several devices get is in the slot once. */
static cl_int send(const struct carriage *c, struct gs_slot *slot)
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
    for (size_t i = 0; i < GS_SLOTS && i < c->turns.pieces; i++)
        gs_pool_wait(c->pool, &c->ring->slot[i].job);
}

static cl_int carry_in(struct carriage *c)
{
    size_t filling = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->turns.pieces && !err; i++) {
        for (; filling < c->turns.pieces && filling < i + GS_SLOTS - c->on_link && !err; filling++) {
            struct gs_slot *next = &c->ring->slot[filling % GS_SLOTS];
            err = await_slot(next);
            if (err)
                break; /* the slot's jobs are still the ones before, which are done */
            next->piece = gs_turns_take(&c->turns);
            copy(c, next);
        }
        struct gs_slot *slot = &c->ring->slot[i % GS_SLOTS];
        if (err)
            break;
        gs_pool_wait(c->pool, &slot->job);
        if (i >= c->on_link && gs_put_now())
            err = await_use(&c->ring->slot[(i - c->on_link) % GS_SLOTS]);
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
            struct gs_slot *slot = &c->ring->slot[asked % GS_SLOTS];
            if (asked >= GS_SLOTS)
                gs_pool_wait(c->pool, &slot->job); /* drained to the application's memory */
            err = await_slot(slot);
            slot->piece = gs_turns_take(&c->turns);
            if (!err)
                err = send(c, slot);
        }
        if (i == 0)
            gs_pool_rouse(c->pool);
        struct gs_slot *slot = &c->ring->slot[i % GS_SLOTS];
        if (!err)
            err = await_slot(slot);
        if (err)
            break;
        copy(c, slot);
    }
    await_copies(c);
    return err;
}

/* Pages that are yet to be made: of runs of bytes alone. */
static void look_for_fresh(struct gs_cut_transfer *c, unsigned looks)
{
    const struct gs_staged *t = c->t;
    const size_t row = t->region[0] * t->element;
    c->fresh = !t->write && t->region[1] * t->region[2] == 1 && gs_prefault_prepare(t->host.at, row, looks);
}

/* A small transfer goes in smaller pieces, so that filling and sending overlap. Each link has as many pieces on its way
 * as keep it busy. */
static cl_int carry(struct carriage *c, const struct gs_staged *v, unsigned n)
{
    struct gs_turns *turns = &c->turns;
    if (gs_turns_begin(turns, v, n, (size_t)gs_put_most(GS_SLOT_BYTES, GS_VIA_HOST), LEAST_PIECE, MANY_PIECES) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    if (!gs_put_now())
        forget_ended(c->ring);
    c->on_link = turns->most_bytes < GS_SLOT_BYTES || turns->lanes > 1 ? GS_SLOTS / 2 : GS_SLOTS / 4;
    if (gs_put_now())
        c->on_link = (size_t)(gs_unit_is_alone(GS_RESOURCE_PCI) ? ON_LINK_ALONE : ON_LINK_BY_UNITS) / (v->also ? 2 : 1);
    const struct gs_label before = gs_label_way(GS_WAY_STAGED);
    for (unsigned i = 0; i < n; i++)
        look_for_fresh(&turns->v[i], n < GS_PREFAULT_LOOKS / 2 ? GS_PREFAULT_LOOKS / n : 2);
    const cl_int err = v->write ? carry_in(c) : carry_out(c);
    gs_label_back(before);
    gs_turns_end(turns);
    return err;
}

static cl_int carry_one(const struct carriage *c, const struct gs_staged *t)
{
    cl_event event;
    cl_int err = enqueue(c, t, NULL, &event);
    if (err)
        return err;
    err = gs_real()->clWaitForEvents(1, &event);
    const cl_int kept = gs_staged_note(c->ended, t->place, event);
    return err ? err : kept;
}

/* By the driver's own way, where there is no ring, or where it has failed: what that has done doesn't count. */
static cl_int carry_directly(const struct carriage *c, const struct gs_staged *v, unsigned n)
{
    cl_int err = CL_SUCCESS;
    gs_events_free(&c->ended->events);
    for (unsigned i = 0; i < n && !err; i++) {
        struct gs_staged there;
        err = carry_one(c, &v[i]);
        for (unsigned p = GS_MAX_DEVICES; !err && gs_staged_also(&v[i], &p, &there);)
            err = carry_one(c, &there);
    }
    return err;
}

static bool has_failed(const struct gs_events *e)
{
    for (cl_uint i = 0; i < e->n; i++)
        if (gs_event_status(e->v[i]) < 0)
            return true;
    return false;
}

cl_int gs_staging_carry(struct gs_context *ctx, const cl_command_queue queue[], const struct gs_staged *v, unsigned n,
                        const struct gs_events *wait, struct gs_staged_ends *ended)
{
    struct carriage c = {.pool = ctx->staging->pool,
                         .ring = &ctx->staging->here,
                         .queue = queue,
                         .n_wait = wait->n,
                         .wait = wait->v,
                         .ended = ended,
                         .lock = &ctx->lock};
    const cl_int err = carry(&c, v, n);
    if (!err)
        return CL_SUCCESS;
    await_slots(c.ring);
    if (has_failed(wait)) /* so would whatever else waits for that */
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    gs_debug("a transfer through the pinned ring failed (error %d)", err);
    return carry_directly(&c, v, n);
}

/* PoCL takes image commands only on a queue of the sub-devices' parent: see GS_IMAGE_QUEUE. */
static cl_command_queue queue_of(struct gs_context *ctx, const struct gs_staged *t, bool profiling, cl_int *err)
{
    const bool parent = t->image && ctx->parent;
    cl_command_queue *queue = &ctx->staging->queue[profiling][parent ? GS_MAX_DEVICES : t->place];
    *err = CL_SUCCESS;
    pthread_mutex_lock(&ctx->staging->making);
    if (!*queue)
        *queue = gs_real()->clCreateCommandQueue(ctx->o.handle, parent ? ctx->parent : ctx->dev[t->place],
                                                 profiling ? CL_QUEUE_PROFILING_ENABLE : 0, err);
    cl_command_queue made = *queue;
    pthread_mutex_unlock(&ctx->staging->making);
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
    return gs_in_callback() || find_queues(ctx, v, n, profiling, queue) == CL_SUCCESS;
}

cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes)
{
    static const struct gs_events none;
    const struct gs_staged run = gs_staged_run(mem, 0, true, 0, bytes, ptr);
    struct gs_staged_ends ended = {0};
    cl_int err;
    const cl_command_queue queue = queue_of(ctx, &run, false, &err);
    if (err)
        return err;
    gs_staging_enter(ctx, true);
    err = gs_staging_carry(ctx, &queue, &run, 1, &none, &ended);
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
    struct carriage c = {.ring = &s->beside, .queue = queue, .ended = ended};
    cl_int err = find_queues(ctx, v, n, profiling, queue);
    if (err)
        return err;
    const bool has_ring = gs_staging_ring_make(c.ring, ctx);
    if (has_ring) {
        c.pool = s->pool;
        err = carry(&c, v, n);
        const cl_int end = await_slots(&s->beside);
        err = err ? err : end;
    }
    if (err)
        gs_debug("a transfer through the pinned ring failed (error %d)", err);
    if (err || !has_ring)
        err = carry_directly(&c, v, n);
    let_go_of_objects(queue);
    return err;
}
