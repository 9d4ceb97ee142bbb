/* SPDX-License-Identifier: MIT */
#include "shim/staging/staging.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "shim/client/client.h"
#include "shim/put/put.h"
#include "shim/order/callbacks.h"
#include "shim/report/report.h"
#include "shim/staging/pool.h"
#include "shim/staging/staging_ring.h"

enum {
    LEAST_PIECE = 1024 * 1024,
    MANY_PIECES = 32, /* the link is idle before the first, and nothing is copied during the last */
};

/* By units so many pieces are on the link at a time: one is carried, one waits. More pieces would stand behind
 * gates, at 14 us each (an H200). Where nobody else wants the link twice as many may be had. */
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
    const struct gs_context *ctx;
    struct gs_staging *ring;
    struct gs_pieces turns;
    struct gs_staged_ends *ended;
    bool timed;
    size_t on_link; /* so many pieces are on their way at a time; the others are being filled or drained */
};

static char *memory_of(const struct gs_staging *r, const struct gs_slot *slot)
{
    return r->memory.base + (slot - r->slot) * (ptrdiff_t)GS_SLOT_BYTES;
}

/* Waits until the device has done with a slot. To wait for an event takes NVIDIA's driver (580.159) 4 us, ended or not.
 */
static cl_int await_slot(struct gs_slot *slot)
{
    cl_int err = CL_SUCCESS;
    if (!slot->used)
        return CL_SUCCESS;
    if (gs_put_now() || gs_event_status(slot->used) != CL_COMPLETE)
        err = gs_real()->clWaitForEvents(1, &slot->used);
    if (!err && gs_put_now())
        gs_units_look(GS_RESOURCE_PCI, NULL);
    gs_real()->clReleaseEvent(slot->used);
    slot->used = NULL;
    return err;
}

/* All of them. */
static cl_int await_slots(struct gs_staging *r)
{
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < GS_SLOTS; i++) {
        const cl_int one = await_slot(&r->slot[i]);
        err = err ? err : one;
    }
    return err;
}

/* Lets the slot's piece be copied between the host's memory and the slot. */
static void copy(const struct carriage *c, struct gs_slot *slot)
{
    const struct gs_staged *p = &slot->piece;
    const size_t *region = p->op.region, row = region[0] * p->element;
    const struct gs_rows there = {memory_of(c->ring, slot), row, row * region[1]}, host = gs_staged_host(p);
    slot->job = (struct gs_copy_job){.dst = p->op.dst ? there : host,
                                     .src = p->op.dst ? host : there,
                                     .region = {row, region[1], region[2]},
                                     .fresh = p->fresh};
    gs_pool_submit(c->ring->pool, &slot->job);
}

/* Between the device and the slot, where the bytes lie without gaps. PoCL takes image commands only on a queue of the
 * sub-devices' parent. */
static cl_int send(const struct carriage *c, struct gs_slot *slot)
{
    struct gs_op op = slot->piece.op;
    size_t *origin = op.dst ? op.from : op.to, *pitch = op.dst ? op.from_pitch : op.to_pitch;
    const unsigned queue = gs_op_is_of_image(&op) && c->ctx->parent ? GS_MAX_DEVICES : slot->piece.place;
    cl_event event;
    op.ptr = memory_of(c->ring, slot);
    pitch[0] = pitch[1] = 0;
    memset(origin, 0, sizeof op.from);
    cl_int err = gs_put(c->ring->queue[c->timed][queue], &op, GS_VIA_HOST, 0, NULL, &event);
    if (err)
        return err;
    slot->used = event;
    err = gs_real()->clRetainEvent(event);
    return err ? err : gs_staged_note(c->ended, slot->piece.place, event);
}

static void await_copies(const struct carriage *c)
{
    for (size_t i = 0; i < GS_SLOTS && i < c->turns.pieces; i++)
        gs_pool_wait(c->ring->pool, &c->ring->slot[i].job);
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
            next->piece = gs_pieces_take(&c->turns);
            copy(c, next);
        }
        struct gs_slot *slot = &c->ring->slot[i % GS_SLOTS];
        if (err)
            break;
        gs_pool_wait(c->ring->pool, &slot->job);
        if (i >= c->on_link && gs_put_now())
            err = await_slot(&c->ring->slot[(i - c->on_link) % GS_SLOTS]);
        if (!err)
            err = send(c, slot);
    }
    await_copies(c);
    return err;
}

/* How many are to have been asked for before piece i is waited for. At first two for each piece that has come: to ask
 * takes as long as half a piece's way, and the copying threads have something to do sooner. */
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
                gs_pool_wait(c->ring->pool, &slot->job); /* drained to the application's memory */
            err = await_slot(slot);
            slot->piece = gs_pieces_take(&c->turns);
            if (!err)
                err = send(c, slot);
        }
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
static void look_for_fresh(struct gs_cut_transfer *c)
{
    const struct gs_staged *t = c->t;
    c->fresh = !t->op.dst && t->op.region[1] * t->op.region[2] == 1 &&
               gs_prefault_prepare(gs_staged_host(t).at, gs_staged_bytes(t));
}

/* A small transfer goes in smaller pieces, so that filling and sending overlap. Each link has as many pieces on its way
 * as keep it busy. */
static cl_int carry(struct carriage *c, const struct gs_staged *v, unsigned n)
{
    struct gs_pieces *turns = &c->turns;
    if (gs_pieces_begin(turns, v, n, (size_t)gs_put_most(GS_SLOT_BYTES, GS_VIA_HOST), LEAST_PIECE, MANY_PIECES) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    c->on_link = turns->most_bytes < GS_SLOT_BYTES || n > 1 ? GS_SLOTS / 2 : GS_SLOTS / 4;
    if (gs_put_now())
        c->on_link = gs_unit_is_alone(GS_RESOURCE_PCI) ? ON_LINK_ALONE : ON_LINK_BY_UNITS;
    GS_LABEL(way, GS_WAY_STAGED);
    for (unsigned i = 0; i < n; i++)
        look_for_fresh(&turns->v[i]);
    const cl_int err = v->op.dst ? carry_in(c) : carry_out(c);
    free(turns->v);
    return err;
}

/* PoCL (3.1) shows a command's end before the command's references are dropped: an application that asks for a
 * reference count would see one more. PoCL's clFinish returns after the drop. */
static void let_go_of_objects(const struct gs_staging *s)
{
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1) && gs_group()->pocl; i++)
        if (s->queue[i % 2][i / 2])
            gs_real()->clFinish(s->queue[i % 2][i / 2]);
}

cl_int gs_staging_carry(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool timed, bool waits,
                        struct gs_staged_ends *ended)
{
    struct carriage c = {.ctx = ctx, .ring = ctx->staging, .ended = ended};
    c.timed = (timed || gs_report_wants_times()) && !gs_in_callback() && gs_staging_make_queues(c.ring, ctx, true);
    cl_int err = carry(&c, v, n);
    if (err || waits) {
        const cl_int end = await_slots(c.ring);
        err = err ? err : end;
    }
    if (err)
        gs_debug("a transfer through the pinned ring failed (error %d)", err);
    let_go_of_objects(c.ring);
    return err;
}

cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes)
{
    const struct gs_staged run = {.op = gs_op_write(mem, 0, bytes, ptr), .element = 1};
    struct gs_staged_ends ended = {0};
    gs_report_moved(GS_PATH_APP_WRITE, bytes);
    gs_staging_enter(ctx, true);
    const cl_int err = gs_staging_carry(ctx, &run, 1, false, true, &ended);
    gs_staging_leave(ctx);
    gs_events_free(&ended.events);
    return err;
}
