/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading and writing rows of buffers. */
#include "shim/api/transfer.h"
#include "shim/report/report.h"
#include "shim/report/watch.h"

/* Carries out the read or write of rows; its range goes whole: what lies between the rows stays. */
static cl_int move_rows(struct gs_command *cmd)
{
    const struct gs_op *op = &cmd->op;
    const bool write = op->kind == GS_OP_WRITE_RECT;
    const size_t *pitch = write ? op->to_pitch : op->from_pitch;
    struct gs_mem *m = gs_command_begin(cmd, false) ? gs_find(GS_MEM, write ? op->dst : op->src) : NULL;
    const struct gs_range r =
        gs_rect_range(write ? gs_op_to(op) : gs_op_from(op), gs_op_region(op), pitch[0], pitch[1]);
    const uint64_t bytes = r.end - r.begin;
    if (!m || !(write ? gs_op_from(op) : gs_op_to(op)) || !gs_inside(m, r.begin, bytes) ||
        (!write && !gs_host_may(m, CL_MAP_READ)))
        return gs_command_pass(cmd);
    struct gs_staged t;
    const bool staged = gs_staged_rect(&t, op);
    const struct gs_side buffer = {.m = m, .r = gs_window_range(m, r.begin, bytes)}, host = {0};
    return gs_home_transfer(cmd, write ? host : buffer, write ? buffer : host, staged ? &t : NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                        cl_bool blocking_read, const size_t *buffer_offset,
                                                        const size_t *host_offset, const size_t *region,
                                                        size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                        size_t host_row_pitch, size_t host_slice_pitch, void *ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadBufferRect");
    gs_report_moved(GS_PATH_APP_READ, region ? region[0] * region[1] * region[2] : 0);
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ_RECT, .blocking = blocking_read, .src = buffer,
                                       .from_pitch = {buffer_row_pitch, buffer_slice_pitch},
                                       .to_pitch = {host_row_pitch, host_slice_pitch}, .ptr = ptr);
    gs_set_box(&cmd.op, buffer_offset, host_offset, region);
    return move_rows(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                         cl_bool blocking_write, const size_t *buffer_offset,
                                                         const size_t *host_offset, const size_t *region,
                                                         size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                         size_t host_row_pitch, size_t host_slice_pitch,
                                                         const void *ptr, cl_uint num_events_in_wait_list,
                                                         const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueWriteBufferRect");
    gs_report_moved(GS_PATH_APP_WRITE, region ? region[0] * region[1] * region[2] : 0);
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_WRITE_RECT, .blocking = blocking_write, .dst = buffer,
                   .from_pitch = {host_row_pitch, host_slice_pitch}, .to_pitch = {buffer_row_pitch, buffer_slice_pitch},
                   .ptr = (void *)(uintptr_t)ptr);
    gs_set_box(&cmd.op, host_offset, buffer_offset, region);
    return move_rows(&cmd);
}
