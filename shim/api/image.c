/* SPDX-License-Identifier: MIT */
/* Specification, section 5.3: reading, writing, copying and filling images. Reads take rows of texels from where
 * they are valid (gs_read_from_places); all else works at home. */
#include "shim/api/home.h"

static const size_t none[3];

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                                   const size_t *origin, const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadImage");
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ_IMAGE, .blocking = blocking_read, .src = image,
                                       .to_pitch = {row_pitch, slice_pitch}, .ptr = ptr);
    gs_set_box(&cmd.op, origin, none, region);
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image,
                                                    cl_bool blocking_write, const size_t *origin, const size_t *region,
                                                    size_t input_row_pitch, size_t input_slice_pitch, const void *ptr,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    GS_CALL("clEnqueueWriteImage");
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_WRITE_IMAGE, .blocking = blocking_write, .dst = image,
                   .from_pitch = {input_row_pitch, input_slice_pitch}, .ptr = (void *)(uintptr_t)ptr);
    gs_set_box(&cmd.op, none, origin, region);
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void *fill_color,
                                                   const size_t *origin, const size_t *region,
                                                   cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                   cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_FILL_IMAGE, .dst = image, .pattern = fill_color);
    gs_set_box(&cmd.op, none, origin, region);
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                                   const size_t *src_origin, const size_t *dst_origin,
                                                   const size_t *region, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_COPY_IMAGE, .src = src_image, .dst = dst_image);
    gs_set_box(&cmd.op, src_origin, dst_origin, region);
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                                           cl_mem dst_buffer, const size_t *src_origin,
                                                           const size_t *region, size_t dst_offset,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_IMAGE_TO_BUFFER, .src = src_image, .dst = dst_buffer);
    gs_set_box(&cmd.op, src_origin, (const size_t[3]){dst_offset}, region);
    return gs_transfer_command(&cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                                           cl_mem dst_image, size_t src_offset,
                                                           const size_t *dst_origin, const size_t *region,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_BUFFER_TO_IMAGE, .src = src_buffer, .dst = dst_image);
    gs_set_box(&cmd.op, (const size_t[3]){src_offset}, dst_origin, region);
    return gs_transfer_command(&cmd);
}
