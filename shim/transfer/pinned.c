/* SPDX-License-Identifier: MIT */
#include "shim/transfer/pinned.h"

#include <stdlib.h>

#include "shim/transfer/paths.h"
#include "shim/transfer/upward.h"
#include "shim/staging/pinned_memory.h"
#include "shim/transfer/strided.h"
#include "shim/transfer/transfer.h"
#include "shim/process/clock.h"
#include "shim/devices/remote.h"
#include "shim/order/callbacks.h"

struct gs_pinned {
    struct gs_passage passage; /* first */
    struct gs_pinned_memory memory;
    struct gs_ring ring;
    bool failed;
};

bool gs_pinned_is_made(const struct gs_context *ctx)
{
    return ctx->paths->pinned;
}

void gs_pinned_free(struct gs_pinned *p)
{
    if (!p)
        return;
    struct gs_events uses = {0};
    if (gs_ring_uses(&p->ring, &uses) == CL_SUCCESS) /* else it is left as it is */
        gs_pinned_memory_give(&p->memory, &uses);
    gs_events_free(&uses);
    gs_ring_free(&p->ring);
    free(p);
}

bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send)
{
    bool direct = gs_group()->remote;
    for (unsigned t = 0; t < send->n && direct; t++)
        direct = gs_remote_is_direct(ctx->dev[send->from], ctx->dev[send->to[t].place], gs_rect_bytes(&send->rect));
    return direct;
}

static struct gs_ring *ring_of(const struct gs_passage *p, struct gs_context *ctx, unsigned from)
{
    (void)ctx;
    (void)from;
    return (struct gs_ring *)&((const struct gs_pinned *)p)->ring;
}

static struct gs_location slots_of(const struct gs_passage *p, const struct gs_context *ctx, const struct gs_flight *f,
                                   unsigned place)
{
    char *memory = ((const struct gs_pinned *)p)->memory.base + f->slot * p->slot_bytes;
    (void)place;
    return (struct gs_location){.ptr = gs_pinned_is_direct(ctx, f->send) ? gs_remote_kept(memory) : memory};
}

const struct gs_passage *gs_pinned_passage(const struct gs_pinned *p)
{
    return &p->passage;
}

struct gs_pinned *gs_pinned_make(struct gs_context *ctx, size_t slot_bytes, cl_int *err)
{
    struct gs_pinned *p = calloc(1, sizeof *p);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!p)
        return NULL;
    p->passage = (struct gs_passage){
        .slot_bytes = slot_bytes,
        .packed_from = slot_bytes == GS_PINNED_SMALL_BYTES ? (uint64_t)GS_RING_SLOTS * GS_PINNED_SLOT_BYTES : 0,
        .path = GS_PATH_PINNED,
        .way = GS_WAY_PINNED,
        .most_slots = 1,
        .by_host = true,
        .ring = ring_of,
        .slots = slots_of};
    *err = gs_pinned_memory_take(&p->memory, ctx, GS_RING_SLOTS * slot_bytes, false);
    for (unsigned i = 0; i < GS_RING_SLOTS && !*err && p->memory.mapped; i++)
        gs_ring_give(&p->ring, i, p->memory.mapped); /* in use until they are there */
    p->failed = *err != CL_SUCCESS;
    return p;
}

static bool is_ready(struct gs_context *ctx, struct gs_pinned **ring, size_t slot_bytes)
{
    cl_int err;
    if (!*ring && !gs_in_callback()) /* it is mapped through a queue of its own */
        *ring = gs_pinned_make(ctx, slot_bytes, &err);
    return *ring && !(*ring)->failed;
}

/* The context's ring, made on first need. False: there is no pinned memory to be had. */
static bool large_is_ready(struct gs_command *cmd)
{
    const bool was = cmd->ctx->paths->pinned;
    const uint64_t begin_ns = was ? 0 : gs_now_ns();
    const bool ready = is_ready(cmd->ctx, &cmd->ctx->paths->pinned, GS_PINNED_SLOT_BYTES);
    if (ready && !was)
        gs_above_transfer.pinned(gs_now_ns() - begin_ns);
    return ready;
}

bool gs_pinned_takes(const struct gs_rect *r, uint64_t size)
{
    enum { LEAST_WIDTH = 64 };
    return r->rows == 1 || (r->width >= LEAST_WIDTH && r->begin % r->pitch + r->width <= r->pitch &&
                            (r->begin / r->pitch + r->rows) * r->pitch <= size);
}

const struct gs_passage *gs_pinned_passage_for(struct gs_command *cmd, uint64_t bytes, bool little)
{
    struct gs_context *ctx = cmd->ctx;
    const bool is_small = !ctx->paths->pinned && (little || bytes <= GS_PINNED_SMALL_BYTES);
    if ((is_small || gs_settings()->transfer == GS_TRANSFER_PLAIN) &&
        is_ready(ctx, &ctx->paths->pinned_small, GS_PINNED_SMALL_BYTES))
        return &ctx->paths->pinned_small->passage;
    return large_is_ready(cmd) ? &ctx->paths->pinned->passage : NULL;
}
