/* SPDX-License-Identifier: MIT */

#include <stdlib.h>

#include "shim/transfer/paths.h"
#include "shim/staging/pinned_memory.h"
#include "shim/devices/group.h"
#include "shim/order/callbacks.h"

struct gs_pinned {
    struct gs_passage passage;
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

/* Null: there was no memory for it at all. */
static struct gs_pinned *make(struct gs_context *ctx, size_t slot_bytes)
{
    struct gs_pinned *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    gs_pinned_memory_make(&p->memory, ctx, GS_RING_SLOTS * slot_bytes, false);
    p->passage = (struct gs_passage){slot_bytes, GS_RING_SLOTS, p->memory.base, NULL, &p->ring};
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
