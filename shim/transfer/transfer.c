/* SPDX-License-Identifier: MIT */
#include "shim/transfer/transfer.h"

#include "shim/memory/bytes.h"
#include "shim/order/completion.h"

bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send)
{
    bool direct = gs_group()->remote;
    for (unsigned t = 0; t < send->n && direct; t++)
        direct = gs_remote_is_direct(ctx->dev[send->from], ctx->dev[send->to[t].place], gs_rect_bytes(&send->rect));
    return direct;
}

/* The ring of pinned memory for so many bytes in n sends; bytes for several places are read once. Few bytes go
 * by a ring of small slots, and so do all where the user wants no fast path. The large ring gets as many slots as
 * pieces, or as two rounds need, so that one round leaves while another is taken; and twice as many, again and again,
 * the more it carries (a slot takes an H200's host 0.4 to 1.1 ms). Over several hosts, where nothing is pinned, the
 * ring has all slots at once. Null: no pinned memory. */
static struct gs_ring *pinned_for(struct gs_context *ctx, uint64_t bytes, size_t n)
{
    enum { LITTLE = 1024 * 1024, ANOTHER = 32 * GS_SLOT_BYTES };
    struct gs_paths *paths = ctx->paths;
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool few = path == GS_TRANSFER_AUTO && paths->between_devices < LITTLE && !paths->pinned.slots;
    const bool small = path == GS_TRANSFER_PLAIN || bytes <= GS_SMALL_SLOT_BYTES || few;
    struct gs_ring *r = small ? &paths->pinned_small : &paths->pinned;
    const size_t round = gs_least(n, GS_RING_SLOTS), pieces = n + bytes / GS_SLOT_BYTES, has = r->slots;
    const size_t worth =
        small || gs_group()->remote ? GS_RING_SLOTS : gs_least(pieces, 2 * round + paths->between_devices / ANOTHER);
    if (has < gs_least(worth, r->most) && !gs_in_callback()) {
        const uint64_t begin_ns = gs_now_ns();
        gs_ring_add_slots(r, ctx, (unsigned)gs_least(worth > 2 * has ? worth : 2 * has, r->most));
        paths->making_ns += gs_now_ns() - begin_ns;
    }
    return r->slots >= gs_least(round, ctx->n) ? r : NULL;
}

/* ---- ways ---- */

/* Opening windows takes about half a second of a core, and commands enqueued meanwhile wait, so windows pay only for
 * many bytes. Auto mode's choice asks for windows; 2 GiB open them anyway, when they would have spared 40 ms. */
static const uint64_t peer_from_bytes = 1024 * 1024, peer_from_bytes_auto = (uint64_t)2 << 30;

/* The passage by windows, for bytes between GPUs; null: none, or too few bytes so far. */
static const struct gs_passage *through_windows(struct gs_context *ctx)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    if (gs_group()->shared_memory || gs_group()->remote || (path != GS_TRANSFER_AUTO && path != GS_TRANSFER_PEER))
        return NULL;
    const uint64_t worth = gs_settings()->mode == GS_MODE_AUTO ? peer_from_bytes_auto : peer_from_bytes;
    return path == GS_TRANSFER_AUTO && ctx->paths->between_devices < worth ? gs_peer_open(ctx) : gs_peer_ready(ctx);
}

/* The passage for so many bytes in n sends; without a ring: the driver's own copy, the shortest way between devices
 * that share the host's memory. Between others that copy is slow, and NVIDIA's (580.159) can't be relied on: random
 * sequences of commands found old bytes (stress 9400 300 4 i; in docs/coherence.md). */
static struct gs_passage passage_of(struct gs_context *ctx, uint64_t bytes, size_t n, bool of_image)
{
    ctx->paths->between_devices += bytes;
    const struct gs_passage *windows = of_image ? NULL : through_windows(ctx);
    const bool copied = gs_group()->shared_memory && gs_settings()->transfer != GS_TRANSFER_PINNED;
    return windows ? *windows : (struct gs_passage){.ring = copied ? NULL : pinned_for(ctx, bytes, n)};
}

cl_int gs_transfer_buffer(struct gs_command *cmd, const struct gs_op *copy, unsigned from, unsigned to,
                          const struct gs_events *wait, struct gs_events *done)
{
    const uint64_t begin = copy->from[0], bytes = copy->region[0];
    struct gs_sends sends = {0};
    const struct gs_send send = {.from = from,
                                 .rect = gs_one_row((struct gs_range){begin, begin + bytes}),
                                 .op = *copy,
                                 .n = 1,
                                 .to = {{.place = to, .part = -1, .mem = copy->dst, .done = done}}};
    if (!bytes)
        return CL_SUCCESS;
    const struct gs_passage passage = from == to ? (struct gs_passage){0} : passage_of(cmd->ctx, bytes, 1, false);
    cl_int err = gs_sends_add(&sends, &send) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (!err)
        err = gs_events_share_all(&sends.v[0].wait, wait);
    if (!err)
        err = gs_sends_enqueue(cmd, NULL, &sends, &passage);
    gs_sends_free(&sends);
    return err;
}

/* Waits for all earlier commands, for the last transfer into the source (which the same command may have asked for),
 * and for transfers that bring these very bytes there: if one of those fails, this send fails too. */
static cl_int wait_for_source(const struct gs_command *cmd, const struct gs_replica *src, struct gs_send *send)
{
    const struct gs_range r = gs_rect_hull(&send->rect);
    cl_int err = gs_events_share_all(&send->wait, &cmd->before);
    for (size_t i = 0; i < src->n_pending && !err; i++) {
        const struct gs_pending *a = &src->pending[i];
        if (a->event != src->ready && gs_rangeset_touches(&a->brings, r))
            err = gs_events_share(&send->wait, a->event);
    }
    return err || !src->ready ? err : gs_events_share(&send->wait, src->ready);
}

/* Cuts off what drivers refuse of a rectangle of an object of these bytes: rows that reach into the next line, and
 * (NVIDIA, 580.159) a last line that is cut off by the object's end. False: they take it as it is. */
static bool cut_off(struct gs_rect *r, struct gs_range object, struct gs_rect *rest)
{
    const uint64_t at = r->begin - object.begin, space = r->pitch - at % r->pitch;
    if (r->rows > 1 && r->width > space) {
        rest->begin += space;
        rest->width -= space;
        r->width = space;
        return true;
    }
    if (r->rows == 1 || (at / r->pitch + r->rows) * r->pitch <= object.end - object.begin)
        return false;
    *rest = gs_one_row(gs_rect_row(r, --r->rows));
    return true;
}

/* Splits rectangles that drivers refuse in the source or in the target. */
static int take_apart(const struct gs_mem *root, struct gs_sends *sends)
{
    int err = 0;
    for (size_t i = 0; i < sends->n && !err;) {
        struct gs_send rest = sends->v[i];
        struct gs_rect *r = &sends->v[i].rect;
        if (cut_off(r, root->bytes->place[rest.from].range, &rest.rect) ||
            cut_off(r, root->bytes->place[rest.to->place].range, &rest.rect))
            err = gs_sends_add(sends, &rest);
        else
            i++;
    }
    return err;
}

/* The copy of a send from its place to the same bytes of another replica. */
static void set_op(struct gs_send *send, const struct gs_mem *root)
{
    const struct gs_replica *src = &root->bytes->place[send->from];
    const struct gs_rect *r = &send->rect;
    const uint64_t at = r->begin - src->range.begin;
    struct gs_op *op = &send->op;
    send->begin = src->range.begin;
    *op = gs_op_copy(src->mem, NULL, (size_t)at, (size_t)r->begin, (size_t)r->width);
    if (root->image) {
        op->kind = GS_OP_COPY_IMAGE;
        gs_image_box(root, gs_rect_hull(r), op->from, op->region);
        op->texel = gs_image_element(root, op->from, op->region);
        memcpy(op->to, op->from, sizeof op->to);
    } else if (r->rows > 1) {
        op->kind = GS_OP_COPY_RECT;
        op->from[0] = (size_t)(at % r->pitch);
        op->from[1] = (size_t)(at / r->pitch);
        op->region[1] = (size_t)r->rows;
        op->from_pitch[0] = op->to_pitch[0] = (size_t)r->pitch;
    }
}

/* Each send has one target so far. */
cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sends->n; i++)
        bytes += gs_rect_bytes(&sends->v[i].rect);
    cl_int err = take_apart(root, sends) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    gs_sends_join(sends);
    const struct gs_passage passage = passage_of(cmd->ctx, bytes, sends->n, root->image);
    for (size_t i = 0; i < sends->n && !err; i++) {
        struct gs_send *send = &sends->v[i];
        set_op(send, root);
        for (unsigned t = 0; t < send->n; t++) {
            send->to[t].mem = root->bytes->place[send->to[t].place].mem;
            send->to[t].begin = root->bytes->place[send->to[t].place].range.begin;
        }
        err = wait_for_source(cmd, &root->bytes->place[send->from], send);
    }
    return err ? err : gs_sends_enqueue(cmd, root, sends, &passage);
}

int gs_paths_make(struct gs_context *ctx)
{
    struct gs_paths *p = ctx->paths = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->pinned = (struct gs_ring){.slot_bytes = GS_SLOT_BYTES, .most = GS_RING_SLOTS};
    p->pinned_small = (struct gs_ring){.slot_bytes = GS_SMALL_SLOT_BYTES, .most = GS_RING_SLOTS};
    return 0;
}

void gs_paths_free(struct gs_context *ctx)
{
    struct gs_paths *p = ctx->paths;
    gs_peer_free(p->peer);
    gs_ring_free(&p->pinned);
    gs_ring_free(&p->pinned_small);
    free(p);
}
