/* SPDX-License-Identifier: MIT */
/* See transfer.h, "passages". */
#include "shim/memory/bytes.h"
#include "shim/transfer/pack.h"
#include "shim/transfer/transfer.h"

void gs_sends_free(struct gs_sends *sends)
{
    for (size_t i = 0; i < sends->n; i++) {
        struct gs_send *send = &sends->v[i];
        gs_events_free(&send->wait);
        for (unsigned t = 0; t < send->n; t++)
            GS_RELEASE(Event, send->to[t].arrived);
    }
    free(sends->v);
    *sends = (struct gs_sends){0};
}

/* Commands enqueued for a part are labelled with the part's number. */
#define LABEL_TARGET(to) GS_LABEL(part, (to)->part < 0 ? gs_label.part : (to)->part)

struct carrying {
    struct gs_command *cmd;
    struct gs_mem *root;
    const struct gs_passage *passage;
};

/* The queue by which pieces leave; image commands on sub-devices need a queue of their own. */
static cl_command_queue queue_from(const struct carrying *c, const struct gs_send *send, cl_int *err)
{
    if (gs_op_is_of_image(&send->op) && gs_group()->parent)
        return gs_queue_of_kind(c->cmd->q, GS_IMAGE_QUEUE, send->from, err);
    return gs_queue_of_kind(c->cmd->q, c->root ? GS_LEAVE_QUEUE : GS_COPY_QUEUE, send->from, err);
}

static struct gs_ring *ring_of(const struct gs_passage *p, const struct gs_send *send)
{
    return &p->ring[p->windows ? send->from : 0];
}

/* A piece's slot, as this place reaches it. */
static struct gs_slot slot_of(const struct carrying *c, const struct gs_flight *f, unsigned place)
{
    const struct gs_passage *p = c->passage;
    if (p->windows)
        return (struct gs_slot){.mem = p->windows->seen[f->send->from][place], .at = f->slot * p->ring->slot_bytes};
    char *at = gs_ring_memory(p->ring, f->slot);
    return (struct gs_slot){.ptr = gs_pinned_is_direct(c->cmd->ctx, f->send) ? gs_remote_kept(at) : at};
}

/* Remembers the last copy that left, for the parts to wait for: the device's cores do a copy to a window, and a part
 * may fill the cores; and a server carries out one command at a time, so a piece would wait for a long part. */
static cl_int note_left(const struct carrying *c, unsigned place, cl_event event)
{
    cl_event **left = &c->cmd->left;
    if (!*left && !(*left = calloc(GS_MAX_DEVICES, sizeof **left)))
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int err = gs_real()->clRetainEvent(event);
    if (!err)
        gs_event_replace(&(*left)[place], event);
    return err;
}

/* A piece's place in the root becomes one in a target that begins there. */
static void count_from(struct gs_op *op, uint64_t begin)
{
    const uint64_t pitch = op->to_pitch[0], at = op->to[1] * pitch + op->to[0] - begin;
    op->to[0] = (size_t)(pitch ? at % pitch : at);
    op->to[1] = (size_t)(pitch ? at / pitch : 0);
}

/* The piece's way into its slot, or (to) from there; by the driver's own copy, a memcpy where devices share the host's
 * memory, the whole way. */
static cl_int put_piece(const struct carrying *c, const struct gs_flight *f, const struct gs_target *to,
                        cl_command_queue queue, const struct gs_events *before, cl_event *end)
{
    const struct gs_send *send = f->send;
    const unsigned place = to ? to->place : send->from;
    const bool copies = !c->passage->ring;
    const struct gs_slot slot = copies ? (struct gs_slot){0} : slot_of(c, f, place);
    if (send->with)
        return gs_pack_put(&(struct gs_pack_step){c->passage->pack, send, &slot, to}, queue, before, end);
    struct gs_op op = gs_op_piece(&send->op, &send->cut, f->piece);
    if (!copies)
        gs_op_by_slot(&op, to, &slot);
    if (to)
        op.dst = to->mem;
    if (to && !gs_op_is_of_image(&op))
        count_from(&op, to->begin);
    const bool near = copies ? send->from == place : c->passage->windows && !to;
    return gs_put(queue, &op,
                  near                  ? GS_VIA_MEMORY
                  : c->passage->windows ? GS_VIA_WINDOW
                                        : GS_VIA_HOST,
                  before->n, before->v, end);
}

/* Each event once: most sends wait for the same. */
static cl_int gather_waits(const struct gs_send *send, struct gs_events *before)
{
    cl_int err = gs_events_share_all(before, &send->wait);
    for (const struct gs_send *s = send->with; s; s = s->with)
        for (cl_uint e = 0; e < s->wait.n && !err; e++)
            if (!gs_event_is_in(before, s->wait.v[e]))
                err = gs_events_share(before, s->wait.v[e]);
    return err;
}

static cl_int leave_piece(const struct carrying *c, struct gs_flight *f)
{
    const struct gs_send *send = f->send;
    struct gs_ring *ring = ring_of(c->passage, send);
    struct gs_events before = {0};
    cl_int err;
    cl_command_queue queue = queue_from(c, send, &err);
    if (!err)
        err = gather_waits(send, &before);
    if (!err)
        err = gs_ring_take(ring, &f->slot, &before);
    if (!err)
        err = put_piece(c, f, NULL, queue, &before, &f->left);
    gs_events_free(&before);
    if (err) {
        f->left = NULL;
        return err;
    }
    gs_ring_give(ring, f->slot, f->left);
    return !c->passage->windows && !gs_group()->remote ? CL_SUCCESS : note_left(c, send->from, f->left);
}

static cl_int note_arrived(struct gs_mem *root, const struct gs_send *send, const struct gs_target *to)
{
    const struct gs_events *done = to->done; /* packed pieces have one end */
    const bool there = done->n && done->v[done->n - 1] == to->arrived;
    const cl_int err = there ? CL_SUCCESS : gs_events_share(to->done, to->arrived);
    if (err || !root)
        return err;
    return gs_pending_add(root, to->place, &send->rect, to->arrived);
}

/* The last piece has been taken, and with it all that is packed together. */
static cl_int end_sends(const struct carrying *c, const struct gs_send *send, const struct gs_target *to)
{
    cl_int err = note_arrived(c->root, send, to);
    for (struct gs_send *s = send->with; s && !err; s = s->with) {
        err = gs_real()->clRetainEvent(to->arrived);
        if (err)
            break;
        s->to->arrived = to->arrived;
        err = note_arrived(c->root, s, s->to);
    }
    return err;
}

/* Waits for the target's piece before, too. The queue orders both; the wait makes the last piece fail if any does. */
static cl_int take_piece(const struct carrying *c, struct gs_flight *f, struct gs_target *to)
{
    cl_event both[2] = {f->left, to->arrived}, end;
    const struct gs_events before = {.v = both, .n = to->arrived ? 2 : 1};
    const bool copies = !c->passage->ring;
    cl_int err;
    cl_command_queue queue =
        gs_queue_of_kind(c->cmd->q, gs_op_is_of_image(&f->send->op) ? GS_IMAGE_QUEUE : GS_COPY_QUEUE, to->place, &err);
    if (!err)
        err = put_piece(c, f, to, queue, copies ? &f->send->wait : &before, &end);
    if (err)
        return err;
    gs_event_replace(&to->arrived, end);
    if (!copies)
        (f->taken++ ? gs_ring_add : gs_ring_give)(ring_of(c->passage, f->send), f->slot, end);
    return f->last ? end_sends(c, f->send, to) : CL_SUCCESS;
}

static cl_int take_step(const struct carrying *c, struct gs_flight *f, unsigned step)
{
    cl_int err = CL_SUCCESS;
    for (unsigned t = 0; t < f->send->n && !err; t++) {
        struct gs_target *to = &f->send->to[t];
        if (gs_round_step(f->send->from, to->place, c->cmd->ctx->n) != step)
            continue;
        LABEL_TARGET(to);
        err = take_piece(c, f, to);
    }
    return err;
}

static cl_int carry_round(const struct carrying *c, struct gs_flight *flights, unsigned n)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < n && c->passage->ring && !err; i++) {
        LABEL_TARGET(&flights[i].send->to[0]);
        err = leave_piece(c, &flights[i]);
    }
    for (unsigned step = 0; step < c->cmd->ctx->n && !err; step++)
        for (unsigned i = 0; i < n && !err; i++)
            err = take_step(c, &flights[i], step);
    for (unsigned i = 0; i < n; i++)
        GS_RELEASE(Event, flights[i].left);
    return err;
}

/* ---- several pieces together, through a window ---- */

static bool is_packable(const struct gs_send *send)
{
    return send->n == 1 && !send->gone && gs_rect_bytes(&send->rect) <= GS_PACK_PIECE_BYTES;
}

/* Has later sends of the same source and target go with the first, as far as there is room in a slot. */
static void gather(struct gs_send *first, const struct gs_send *end, uint64_t slot_bytes)
{
    struct gs_send *last = first;
    uint64_t bytes = gs_pack_bytes(first);
    unsigned n = 1;
    for (struct gs_send *s = first + 1; s < end && s->from == first->from && n < GS_PACK_PIECES; s++) {
        if (!is_packable(s) || s->to->place != first->to->place || bytes + gs_pack_bytes(s) > slot_bytes)
            continue;
        first->gone = first->cut.n;
        s->gone = s->cut.n;
        last = last->with = s;
        bytes += gs_pack_bytes(s);
        n++;
    }
}

/* Carries sends that can be packed; the rounds carry the rest. */
static cl_int carry_together(const struct carrying *c, struct gs_sends *sends)
{
    const struct gs_send *end = sends->v + sends->n;
    cl_int err = CL_SUCCESS;
    for (struct gs_send *s = sends->v; s < end && !err; s++) {
        struct gs_flight f = {.send = s, .last = true};
        if (!is_packable(s))
            continue;
        gather(s, end, c->passage->ring->slot_bytes);
        if (!s->with)
            continue;
        LABEL_TARGET(s->to);
        err = leave_piece(c, &f);
        if (!err)
            err = take_piece(c, &f, s->to);
        GS_RELEASE(Event, f.left);
    }
    return err;
}

static void report(const struct carrying *c, const struct gs_send *send)
{
    const bool peer = c->passage->windows || gs_pinned_is_direct(c->cmd->ctx, send);
    const enum gs_path path = !c->passage->ring ? GS_PATH_COPY : peer ? GS_PATH_PEER : GS_PATH_PINNED;
    for (unsigned t = 0; t < send->n; t++)
        if (send->from != send->to[t].place)
            gs_report_moved(path, gs_rect_bytes(&send->rect));
}

static void leave_sends(struct gs_context *ctx, struct gs_mem *root, const struct gs_sends *sends)
{
    for (size_t i = 0; i < sends->n; i++)
        for (unsigned t = 0; t < sends->v[i].n; t++) {
            const struct gs_target *to = &sends->v[i].to[t];
            cl_event end = to->arrived ? gs_command_leave(ctx, to->arrived) : NULL;
            if (end && root)
                gs_busy_until(root, to->place, end);
        }
}

cl_int gs_sends_enqueue(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends,
                        const struct gs_passage *passage)
{
    const struct carrying c = {cmd, root, passage};
    const struct gs_ring *ring = passage->ring;
    struct gs_flight flights[GS_ROUND_PIECES];
    struct gs_rounds rounds;
    cl_int err = CL_SUCCESS;
    GS_LABEL(way, !ring ? gs_label.way : passage->windows ? GS_WAY_PEER : GS_WAY_PINNED);
    for (size_t i = 0; i < sends->n; i++)
        report(&c, &sends->v[i]);
    gs_rounds_begin(&rounds, sends,
                    ring ? gs_put_most(ring->slot_bytes, passage->windows ? GS_VIA_WINDOW : GS_VIA_HOST) : 0,
                    ring && !passage->windows ? ring->slots : GS_ROUND_PIECES);
    if (passage->pack)
        err = carry_together(&c, sends);
    for (unsigned n; !err && (n = gs_rounds_next(&rounds, flights)) > 0;)
        err = carry_round(&c, flights, n);
    if (err)
        leave_sends(cmd->ctx, root, sends);
    return err;
}
