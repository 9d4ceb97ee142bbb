/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading and writing rows of buffers. */
#include "shim/api/home.h"

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                        cl_bool blocking_read, const size_t *buffer_offset,
                                                        const size_t *host_offset, const size_t *region,
                                                        size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                        size_t host_row_pitch, size_t host_slice_pitch, void *ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadBufferRect");
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ_RECT, .blocking = blocking_read, .src = buffer,
                                       .from_pitch = {buffer_row_pitch, buffer_slice_pitch},
                                       .to_pitch = {host_row_pitch, host_slice_pitch}, .ptr = ptr);
    gs_set_box(&cmd.op, buffer_offset, host_offset, region);
    return gs_transfer_command(&cmd);
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
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_WRITE_RECT, .blocking = blocking_write, .dst = buffer,
                   .from_pitch = {host_row_pitch, host_slice_pitch}, .to_pitch = {buffer_row_pitch, buffer_slice_pitch},
                   .ptr = (void *)(uintptr_t)ptr);
    gs_set_box(&cmd.op, host_offset, buffer_offset, region);
    return gs_transfer_command(&cmd);
}
