/* SPDX-License-Identifier: MIT */
#include "shim/memory/pinned.h"

#include <stdlib.h>

#include "shim/memory/upward.h"
#include "shim/memory/memory.h"
#include "shim/memory/strided.h"
#include "shim/memory/transfer.h"
#include "shim/process/clock.h"
#include "shim/record/remote.h"
#include "shim/order/callbacks.h"

struct gs_pinned {
    struct gs_pinned_memory memory;
    size_t slot_bytes;
    struct gs_ring ring;
    bool failed;
};

void gs_pinned_free(struct gs_pinned *p)
{
    if (!p)
        return;
    const bool idle = gs_ring_is_idle(&p->ring);
    gs_ring_free(&p->ring);
    gs_pinned_memory_give(&p->memory, idle);
    free(p);
}

struct gs_pinned *gs_pinned_make(struct gs_context *ctx, size_t slot_bytes, cl_int *err)
{
    struct gs_pinned *p = calloc(1, sizeof *p);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!p)
        return NULL;
    p->slot_bytes = slot_bytes;
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
    const bool was = cmd->ctx->pinned;
    const uint64_t begin_ns = was ? 0 : gs_now_ns();
    const bool ready = is_ready(cmd->ctx, &cmd->ctx->pinned, GS_PINNED_SLOT_BYTES);
    if (ready && !was)
        gs_above_memory.pinned(gs_now_ns() - begin_ns);
    return ready;
}

static cl_device_id device_of(cl_command_queue queue)
{
    cl_device_id dev = NULL;
    gs_real()->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof dev, &dev, NULL);
    return dev;
}

static char *slot_at(const struct gs_pinned *p, unsigned slot, bool direct)
{
    char *memory = p->memory.base + slot * p->slot_bytes;
    return direct ? gs_remote_kept(memory) : memory;
}

/* After its read, and after the write of the piece before: it comes after that in the queue already, but this way the
 * last piece fails where any does. *written: the end of the piece before, or null; then of this one. Owned by the
 * caller, who lets it go on an error too. */
static cl_int copy_piece(struct gs_pinned *pinned, cl_command_queue in, cl_command_queue out, const struct gs_op *copy,
                         const struct gs_events *wait, cl_event *written)
{
    const bool direct = gs_pinned_pass_is_direct(in, out, copy->region[0]);
    struct gs_events before = {0};
    struct gs_op op = {
        .kind = GS_OP_READ, .src = copy->src, .from = {copy->from[0]}, .region = {copy->region[0], 1, 1}};
    unsigned slot;
    cl_event read = NULL, end = NULL;
    cl_int err = gs_events_share_all(&before, wait);
    if (!err)
        err = gs_ring_take(&pinned->ring, &slot, &before);
    op.ptr = err ? NULL : slot_at(pinned, slot, direct);
    if (!err)
        err = gs_put(in, &op, GS_VIA_HOST, before.n, before.v, &read);
    if (!err) {
        const cl_event after[2] = {read, *written};
        gs_real()->clFlush(in);
        op = (struct gs_op){.kind = GS_OP_WRITE,
                            .dst = copy->dst,
                            .to = {copy->to[0]},
                            .region = {copy->region[0], 1, 1},
                            .ptr = op.ptr};
        err = gs_put(out, &op, GS_VIA_HOST, *written ? 2 : 1, after, &end);
    }
    if (!err)
        gs_real()->clFlush(out);
    if (read)
        gs_ring_give(&pinned->ring, slot, err ? read : end);
    if (read)
        gs_real()->clReleaseEvent(read);
    gs_events_free(&before);
    if (!err && *written)
        gs_real()->clReleaseEvent(*written);
    if (!err)
        *written = end;
    return err;
}

bool gs_pinned_pass_is_direct(cl_command_queue in, cl_command_queue out, uint64_t bytes)
{
    return gs_group()->remote && gs_remote_is_direct(device_of(in), device_of(out), bytes);
}

/* The last piece's end stands for all of the transfer's; after an error, for those that are on their way. */
cl_int gs_pinned_pass(struct gs_pinned *pinned, cl_command_queue in, cl_command_queue out, const struct gs_op *copy,
                      const struct gs_events *wait, struct gs_events *done)
{
    const uint64_t bytes = copy->region[0];
    cl_event written = NULL;
    cl_int err = CL_SUCCESS;
    for (uint64_t at = 0; at < bytes && !err;) {
        const uint64_t most = gs_put_most(pinned->slot_bytes), n = bytes - at < most ? bytes - at : most;
        const struct gs_op piece = gs_op_copy(copy->src, copy->dst, copy->from[0] + at, copy->to[0] + at, n);
        err = copy_piece(pinned, in, out, &piece, wait, &written);
        at += n;
    }
    const cl_int kept = written ? gs_events_add(done, written) : CL_SUCCESS;
    return err ? err : kept;
}

static struct gs_pinned *pinned_of(const struct gs_passage *p, const struct gs_context *ctx)
{
    return p->slot_bytes == GS_PINNED_SMALL_BYTES ? ctx->pinned_small : ctx->pinned;
}

static struct gs_ring *ring_of(const struct gs_passage *p, struct gs_context *ctx, unsigned from)
{
    (void)from;
    return &pinned_of(p, ctx)->ring;
}

bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send)
{
    bool direct = gs_group()->remote;
    for (unsigned t = 0; t < send->n && direct; t++)
        direct = gs_remote_is_direct(ctx->dev[send->from], ctx->dev[send->to[t].place], gs_rect_bytes(&send->rect));
    return direct;
}

static char *memory_of(const struct gs_passage *p, const struct gs_context *ctx, const struct gs_flight *f)
{
    return slot_at(pinned_of(p, ctx), f->slot, gs_pinned_is_direct(ctx, f->send));
}

bool gs_pinned_takes(const struct gs_rect *r, uint64_t size)
{
    enum { LEAST_WIDTH = 64 };
    return r->rows == 1 || (r->width >= LEAST_WIDTH && r->begin % r->pitch + r->width <= r->pitch &&
                            (r->begin / r->pitch + r->rows) * r->pitch <= size);
}

/* What of a buffer or an image a piece is. */
static void set_place(const struct gs_mem *image, size_t origin[3], size_t pitch[2], size_t region[3],
                      const struct gs_rect *r)
{
    if (image) {
        gs_image_box(image, gs_rect_hull(r), origin, region);
        return;
    }
    region[0] = (size_t)r->width;
    region[1] = (size_t)r->rows;
    region[2] = 1;
    origin[0] = (size_t)r->begin;
    if (r->rows == 1)
        return;
    origin[0] = (size_t)(r->begin % r->pitch);
    origin[1] = (size_t)(r->begin / r->pitch);
    pitch[0] = (size_t)r->pitch;
}

/* Beside its slot. That of the small ring comes behind those of the other one. */
static struct gs_strided_rows packed_rows(const struct gs_passage *p, const struct gs_context *ctx, unsigned place,
                                          const struct gs_flight *f)
{
    const uint64_t before = p->slot_bytes == GS_PINNED_SMALL_BYTES ? (uint64_t)GS_RING_SLOTS * GS_PINNED_SLOT_BYTES : 0;
    return (struct gs_strided_rows){gs_strided_packed(ctx, place), before + f->slot * p->slot_bytes, f->rect.width};
}

/* Of two commands for one piece the first has been enqueued: its slot is in use until that has ended, at the least. */
static void end_first(const struct gs_passage *p, struct gs_context *ctx, const struct gs_flight *f, cl_event first,
                      cl_int err)
{
    if (err)
        gs_ring_add(&pinned_of(p, ctx)->ring, f->slot, first);
    gs_real()->clReleaseEvent(first);
}

static cl_int leave_in_ring(const struct gs_passage *p, struct gs_command *cmd, const struct gs_flight *f,
                            const struct gs_step *step)
{
    const unsigned from = f->send->from;
    const struct gs_rect *r = &f->rect;
    const struct gs_mem *image = f->send->image;
    struct gs_op op = {.kind = image         ? GS_OP_READ_IMAGE
                               : r->rows > 1 ? GS_OP_READ_RECT
                                             : GS_OP_READ,
                       .src = f->send->mem,
                       .ptr = memory_of(p, cmd->ctx, f)};
    set_place(image, op.from, op.from_pitch, op.region, r);
    if (!f->send->packed)
        return gs_put(step->queue, &op, GS_VIA_HOST, step->after->n, step->after->v, step->end);
    const struct gs_strided_rows there = {f->send->mem, r->begin, r->pitch};
    const struct gs_strided_rows packed = packed_rows(p, cmd->ctx, from, f);
    cl_event moved;
    cl_int err = gs_strided_move(cmd, from, &there, &packed, r, &(struct gs_step){step->queue, step->after, &moved});
    if (err)
        return err;
    op = (struct gs_op){.kind = GS_OP_READ,
                        .src = packed.mem,
                        .from = {(size_t)packed.at},
                        .region = {(size_t)gs_rect_bytes(r), 1, 1},
                        .ptr = op.ptr};
    err = gs_put(step->queue, &op, GS_VIA_HOST, 1, &moved, step->end);
    end_first(p, cmd->ctx, f, moved, err);
    return err;
}

static cl_int take_from_ring(const struct gs_passage *p, struct gs_command *cmd, const struct gs_flight *f,
                             const struct gs_taker *to, const struct gs_step *step)
{
    struct gs_rect there = f->rect;
    const struct gs_mem *image = f->send->image;
    struct gs_op op = {.kind = image            ? GS_OP_WRITE_IMAGE
                               : there.rows > 1 ? GS_OP_WRITE_RECT
                                                : GS_OP_WRITE,
                       .dst = to->mem,
                       .ptr = memory_of(p, cmd->ctx, f)};
    there.begin = gs_flight_to(f);
    set_place(image, op.to, op.to_pitch, op.region, &there);
    if (!f->send->packed)
        return gs_put(step->queue, &op, GS_VIA_HOST, step->after->n, step->after->v, step->end);
    const struct gs_strided_rows here = {to->mem, there.begin, there.pitch};
    const struct gs_strided_rows packed = packed_rows(p, cmd->ctx, to->place, f);
    cl_event came;
    op = (struct gs_op){.kind = GS_OP_WRITE,
                        .dst = packed.mem,
                        .to = {(size_t)packed.at},
                        .region = {(size_t)gs_rect_bytes(&there), 1, 1},
                        .ptr = op.ptr};
    cl_int err = gs_put(step->queue, &op, GS_VIA_HOST, step->after->n, step->after->v, &came);
    if (err)
        return err;
    const struct gs_events written = {.v = &came, .n = 1};
    err = gs_strided_move(cmd, to->place, &packed, &here, &there, &(struct gs_step){step->queue, &written, step->end});
    end_first(p, cmd->ctx, f, came, err);
    return err;
}

#define PASSAGE(bytes)                                                                                                 \
    {                                                                                                                  \
        .slot_bytes = (bytes), .most_slots = 1, .path = GS_PATH_PINNED, .way = GS_WAY_PINNED, .by_host = true,         \
        .ring = ring_of, .leave = leave_in_ring, .take = take_from_ring                                                \
    }
static const struct gs_passage passage = PASSAGE(GS_PINNED_SLOT_BYTES), small_passage = PASSAGE(GS_PINNED_SMALL_BYTES);

const struct gs_passage *gs_pinned_passage_for(struct gs_command *cmd, uint64_t bytes, bool little)
{
    struct gs_context *ctx = cmd->ctx;
    const bool is_small = !ctx->pinned && (little || bytes <= GS_PINNED_SMALL_BYTES);
    if ((is_small || gs_settings()->transfer == GS_TRANSFER_PLAIN) &&
        is_ready(ctx, &ctx->pinned_small, GS_PINNED_SMALL_BYTES))
        return &small_passage;
    return large_is_ready(cmd) ? &passage : NULL;
}
