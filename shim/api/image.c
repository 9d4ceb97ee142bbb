/* SPDX-License-Identifier: MIT */
/* Specification, section 5.3: reading, writing, copying and filling images. All of them work at home. */
#include "shim/api/transfer.h"
#include "shim/report/report.h"
#include "shim/memory/image.h"

static struct gs_side box(struct gs_mem *m, const size_t *origin, const size_t *region)
{
    struct gs_side s = {.m = m};
    if (m)
        s.r = gs_image_range(m, origin, region, &s.covers);
    return s;
}

static struct gs_side whole(struct gs_mem *m)
{
    return (struct gs_side){m, m ? gs_window_range(m, 0, m->size) : (struct gs_range){0, 0}, false};
}

static const struct gs_side nothing;
static const size_t none[3];

/* For the statistics: what the application moves between its memory and an image. */
static void count(enum gs_path path, cl_mem image, const size_t *region)
{
    size_t element = 0;
    if (!gs_report_wants_times() || !region || !gs_group()->n)
        return;
    gs_real()->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    gs_report_moved(path, (uint64_t)region[0] * region[1] * region[2] * element);
}

/* A region of rows of texels as a transfer. False: the region is of another kind, or the driver refuses the call. */
static bool staged_texels(struct gs_staged *t, const struct gs_mem *m, const struct gs_op *op)
{
    const bool write = op->kind == GS_OP_WRITE_IMAGE;
    const size_t *origin = write ? gs_op_to(op) : gs_op_from(op), *region = gs_op_region(op);
    const size_t *pitch = write ? op->from_pitch : op->to_pitch; /* the host's */
    const cl_mem_flags kept_out = CL_MEM_HOST_NO_ACCESS | (write ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (!m->image)
        return false;
    size_t size[3];
    const uint64_t bytes = gs_image_bytes(m, size);
    const bool flat = m->image->desc.image_type == CL_MEM_OBJECT_IMAGE2D;
    *t = (struct gs_staged){.op = *op};
    t->op.blocking = CL_FALSE;
    if (m->root != m || m->home_only || m->flags & kept_out || !origin || !region || !op->ptr ||
        (!flat && size[2] == 1) || (flat && pitch[1]))
        return false;
    for (int i = 0; i < 3; i++)
        if (!region[i] || origin[i] >= size[i] || region[i] > size[i] - origin[i])
            return false;
    t->element = (size_t)(bytes / size[0] / size[1] / size[2]);
    const struct gs_rows host = gs_staged_host(t);
    return t->element && host.row >= region[0] * t->element && host.slice >= host.row * region[1];
}

/* The objects of ours that an image command reads and writes; of a command that we don't look into, none. */
struct objects {
    struct gs_mem *src, *dst;
};

static struct objects look_up(struct gs_command *cmd)
{
    const struct gs_op *op = &cmd->op;
    if (!gs_command_begin(cmd, true) || op->no_from || op->no_to || op->no_region)
        return (struct objects){0};
    return (struct objects){.src = op->src ? gs_find(GS_MEM, op->src) : NULL,
                            .dst = op->dst ? gs_find(GS_MEM, op->dst) : NULL};
}

static cl_int copy(struct gs_command *cmd, struct gs_side src, struct gs_side dst)
{
    return src.m || dst.m ? gs_home_transfer(cmd, src, dst, NULL) : gs_command_pass(cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                                   const size_t *origin, const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadImage");
    count(GS_PATH_APP_READ, image, region);
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ_IMAGE, .blocking = blocking_read, .src = image,
                                       .to_pitch = {row_pitch, slice_pitch}, .ptr = ptr);
    gs_set_box(&cmd.op, origin, none, region);
    struct gs_mem *m = look_up(&cmd).src;
    if (!m)
        return gs_command_pass(&cmd);
    struct gs_staged t;
    const struct gs_side from = box(m, origin, region);
    const bool texels = gs_list_is_valid(num_events_in_wait_list, event_wait_list) && staged_texels(&t, m, &cmd.op);
    if (texels)
        return gs_read(&cmd, m, from.r, &t);
    return gs_home_transfer(&cmd, from, nothing, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image,
                                                    cl_bool blocking_write, const size_t *origin, const size_t *region,
                                                    size_t input_row_pitch, size_t input_slice_pitch, const void *ptr,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    GS_CALL("clEnqueueWriteImage");
    count(GS_PATH_APP_WRITE, image, region);
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_WRITE_IMAGE, .blocking = blocking_write, .dst = image,
                   .from_pitch = {input_row_pitch, input_slice_pitch}, .ptr = (void *)(uintptr_t)ptr);
    gs_set_box(&cmd.op, none, origin, region);
    struct gs_mem *m = look_up(&cmd).dst;
    if (!m)
        return gs_command_pass(&cmd);
    struct gs_staged t;
    const bool texels = staged_texels(&t, m, &cmd.op);
    return gs_home_transfer(&cmd, nothing, box(m, origin, region), texels ? &t : NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void *fill_color,
                                                   const size_t *origin, const size_t *region,
                                                   cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                   cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_FILL_IMAGE, .dst = image, .pattern = fill_color);
    gs_set_box(&cmd.op, none, origin, region);
    struct gs_mem *m = look_up(&cmd).dst;
    if (!m || !m->image || !fill_color)
        return gs_command_pass(&cmd);
    /* Of a depth image a float, else four components. */
    cmd.op.pattern_bytes = (m->image->format.image_channel_order == CL_DEPTH ? 1 : 4) * sizeof(cl_uint);
    return gs_home_transfer(&cmd, nothing, box(m, origin, region), NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                                   const size_t *src_origin, const size_t *dst_origin,
                                                   const size_t *region, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_COPY_IMAGE, .src = src_image, .dst = dst_image);
    gs_set_box(&cmd.op, src_origin, dst_origin, region);
    const struct objects o = look_up(&cmd);
    return copy(&cmd, box(o.src, src_origin, region), box(o.dst, dst_origin, region));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                                           cl_mem dst_buffer, const size_t *src_origin,
                                                           const size_t *region, size_t dst_offset,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_IMAGE_TO_BUFFER, .src = src_image, .dst = dst_buffer);
    gs_set_box(&cmd.op, src_origin, (const size_t[3]){dst_offset}, region);
    const struct objects o = look_up(&cmd);
    return copy(&cmd, box(o.src, src_origin, region), whole(o.dst));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                                           cl_mem dst_image, size_t src_offset,
                                                           const size_t *dst_origin, const size_t *region,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_BUFFER_TO_IMAGE, .src = src_buffer, .dst = dst_image);
    gs_set_box(&cmd.op, (const size_t[3]){src_offset}, dst_origin, region);
    const struct objects o = look_up(&cmd);
    return copy(&cmd, whole(o.src), box(o.dst, dst_origin, region));
}
