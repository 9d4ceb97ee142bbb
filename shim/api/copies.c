/* SPDX-License-Identifier: MIT */
/* Specification, sections 5.2.3 and 5.2.4: copying and filling buffers. */
#include "shim/api/home.h"

#include "common/lock/rank.h"
#include "shim/transfer/transfer.h"

/* Pieces of one copy whose bytes lie in several places; one event can't stand for more. */
enum { MOST_PIECES = 64 };

unsigned gs_count_holders(const struct gs_mem *root, struct gs_range r, unsigned most)
{
    unsigned n = 0;
    for (uint64_t end; r.begin < r.end && n < most; r.begin = end, n++)
        gs_holder(root, r, &end);
    return n;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void *pattern,
                                                    size_t pattern_size, size_t offset, size_t size,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_FILL, .dst = buffer, .to = {offset}, .region = {size, 1, 1},
                                       .pattern = pattern, .pattern_bytes = pattern_size);
    return gs_transfer_command(&cmd);
}

/* Copies each piece where it lies, so that nothing travels: dst's bytes are then valid where src's are. */
static cl_int copy_pieces(struct gs_home *h)
{
    const struct gs_range from = h->src.range, to = h->dst.range;
    struct gs_mem *src = h->src.m->root, *dst = h->dst.m->root;
    cl_int err = gs_command_order(&h->cmd);
    gs_settle(src);
    if (!err)
        err = gs_check_spoiled(src, from);
    for (uint64_t at = from.begin; at < from.end && !err;) {
        uint64_t end;
        const unsigned place = gs_holder(src, (struct gs_range){at, from.end}, &end);
        const struct gs_range out = {to.begin + (at - from.begin), to.begin + (end - from.begin)};
        struct gs_events wait = {0};
        const struct gs_need room = {place, -1, &(const struct gs_rangeset){0}, &wait, out};
        err = gs_require_all(&h->cmd, dst, &room, 1, false);
        err = err ? err : gs_ready_events(&h->cmd, src, place, dst, place, &wait);
        const struct gs_place_memory source = gs_replica_at(src, place), target = gs_replica_at(dst, place);
        const struct gs_op copy = gs_op_copy(source.mem, target.mem, (size_t)(at - source.range.begin),
                                             (size_t)(out.begin - target.range.begin), (size_t)(end - at));
        gs_command_ends_at(&h->cmd, place);
        if (!err)
            err = gs_transfer_buffer(&h->cmd, &copy, place, place, &wait, &h->cmd.ended);
        gs_events_free(&wait);
        if (!err)
            gs_note_write(dst, place, out);
        at = end;
    }
    return err;
}

bool gs_copy_in_place(const struct gs_command *cmd, const struct gs_side *from, const struct gs_side *to)
{
    struct gs_home h;
    cl_int err = CL_INVALID_OPERATION;
    gs_home_begin(&h, cmd, false);
    h.src = *from;
    h.dst = *to;
    const bool may = gs_list_is_valid(cmd->n_wait, cmd->wait) && !gs_at_home(from->m->root, from->range) &&
                     !atomic_load(&cmd->ctx->user_events) && !gs_home_is_in_use(&h) &&
                     gs_count_holders(from->m->root, from->range, MOST_PIECES + 1) <= MOST_PIECES;
    if (may)
        err = copy_pieces(&h);
    if (may && !err)
        err = gs_finish_command(&h.cmd, cmd->event);
    if (may && err) { /* there is no memory in a place; some drivers find that only when it is used */
        gs_command_flush(cmd->q);
        GS_MAY_WAIT("a copy that is given up half-way", GS_WITHOUT_LIMIT);
        gs_events_wait(&h.cmd.ended);
    }
    return gs_home_end(&h, err) == CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer,
                                                    cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
                                                    size_t size, cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_COPY, .src = src_buffer, .dst = dst_buffer, .from = {src_offset},
                                       .to = {dst_offset}, .region = {size, 1, 1});
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(
    cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, const size_t *src_origin,
    const size_t *dst_origin, const size_t *region, size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
    size_t dst_slice_pitch, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_COPY_RECT, .src = src_buffer, .dst = dst_buffer,
                   .from_pitch = {src_row_pitch, src_slice_pitch}, .to_pitch = {dst_row_pitch, dst_slice_pitch});
    gs_set_box(&cmd.op, src_origin, dst_origin, region);
    return gs_transfer_command(&cmd);
}
