/* SPDX-License-Identifier: MIT */
#include "shim/transfer/pinned.h"

#include <stdlib.h>

#include "shim/transfer/paths.h"
#include "shim/staging/pinned_memory.h"
#include "shim/transfer/transfer.h"
#include "shim/devices/remote.h"
#include "shim/order/callbacks.h"

struct gs_pinned {
    struct gs_passage passage; /* first */
    struct gs_pinned_memory memory;
    struct gs_ring ring;
};

void gs_pinned_free(struct gs_pinned *p)
{
    if (!p)
        return;
    if (gs_ring_is_idle(&p->ring)) /* else the memory goes with the process */
        gs_pinned_memory_free(&p->memory);
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

static struct gs_location slot_of(const struct gs_passage *p, const struct gs_context *ctx, const struct gs_flight *f,
                                  unsigned place)
{
    char *memory = ((const struct gs_pinned *)p)->memory.base + f->slot * p->slot_bytes;
    (void)place;
    return (struct gs_location){.ptr = gs_pinned_is_direct(ctx, f->send) ? gs_remote_kept(memory) : memory};
}

/* Null: there was no memory for it at all. */
static struct gs_pinned *make(struct gs_context *ctx, size_t slot_bytes)
{
    struct gs_pinned *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->passage = (struct gs_passage){.slot_bytes = slot_bytes,
                                     .ring_slots = GS_RING_SLOTS,
                                     .path = GS_PATH_PINNED,
                                     .way = GS_WAY_PINNED,
                                     .by_host = true,
                                     .ring = ring_of,
                                     .slot = slot_of};
    gs_pinned_memory_make(&p->memory, ctx, GS_RING_SLOTS * slot_bytes, false);
    return p;
}

const struct gs_passage *gs_pinned_passage_for(struct gs_context *ctx, uint64_t bytes)
{
    enum { LITTLE = 1024 * 1024 };
    struct gs_paths *paths = ctx->paths;
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool little = bytes <= GS_PINNED_SMALL_BYTES || (path == GS_TRANSFER_AUTO && paths->between_devices < LITTLE);
    const bool small = path == GS_TRANSFER_PLAIN || (little && !paths->pinned);
    struct gs_pinned **p = small ? &paths->pinned_small : &paths->pinned;
    if (!*p && !gs_in_callback())
        *p = make(ctx, small ? GS_PINNED_SMALL_BYTES : GS_PINNED_SLOT_BYTES);
    return *p && (*p)->memory.base ? &(*p)->passage : NULL;
}
