/* SPDX-License-Identifier: MIT */
/* Specification, section 5.3: reading, writing, copying and filling images. All of them work at home. */
#include "shim/api/transfer.h"
#include "shim/schedule/finish.h"
#include "shim/report/report.h"
#include "shim/memory/host.h"
#include "shim/memory/transfer.h"

/* What a command reads or changes of an object: null if it is none of ours, or there is none. */
struct side {
    struct gs_mem *m;
    struct gs_range r;
    bool covers; /* it changes all of that */
};

static struct side box(struct gs_mem *m, const size_t *origin, const size_t *region)
{
    struct side s = {.m = m};
    if (m)
        s.r = gs_image_range(m, origin, region, &s.covers);
    return s;
}

static struct side whole(struct gs_mem *m)
{
    return (struct side){m, m ? gs_window_range(m, 0, m->size) : (struct gs_range){0, 0}, false};
}

static const struct side nothing;
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

/* Begins a command that reads `src` and changes `dst`. */
static cl_int begin_home(struct gs_home *h, struct gs_queue *q, struct side src, struct side dst, cl_uint n_wait,
                         const cl_event *wait)
{
    gs_home_begin(h, q, !dst.m, n_wait, wait);
    gs_home_need(h, src.m, src.r);
    if (dst.covers)
        gs_home_claim(h, dst.m);
    else
        gs_home_need(h, dst.m, dst.r);
    return gs_home_ready(h);
}

static void begin(struct gs_home *h, struct gs_queue *q, struct side src, struct side dst, cl_uint n_wait,
                  const cl_event *wait, cl_command_queue *queue)
{
    cl_int err = begin_home(h, q, src, dst, n_wait, wait);
    *queue = err ? NULL : gs_home_image_queue(h);
}

/* A region of rows of texels as a transfer. False: it is of another kind, or the driver refuses it. */
static bool staged_texels(struct gs_staged *t, const struct gs_mem *m, bool write, const size_t *origin,
                          const size_t *region, size_t row_pitch, size_t slice_pitch, const void *ptr)
{
    const cl_mem_flags kept_out = CL_MEM_HOST_NO_ACCESS | (write ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    const cl_image_desc *d = &m->desc;
    const bool flat = d->image_type == CL_MEM_OBJECT_IMAGE2D;
    const size_t depth = d->image_type == CL_MEM_OBJECT_IMAGE3D         ? d->image_depth
                         : d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? d->image_array_size
                                                                        : 1;
    const size_t size[3] = {d->image_width, d->image_height, depth};
    *t = (struct gs_staged){.mem = m->o.handle, .image = true, .write = write, .host = {.at = (char *)(uintptr_t)ptr}};
    if (m->root != m || m->home_only || m->flags & kept_out || !origin || !region || !ptr || (!flat && depth == 1) ||
        (flat && slice_pitch))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!region[i] || origin[i] >= size[i] || region[i] > size[i] - origin[i])
            return false;
        t->origin[i] = origin[i];
        t->region[i] = region[i];
    }
    gs_real()->clGetImageInfo(m->o.handle, CL_IMAGE_ELEMENT_SIZE, sizeof t->element, &t->element, NULL);
    t->host.row = row_pitch ? row_pitch : region[0] * t->element;
    t->host.slice = slice_pitch ? slice_pitch : t->host.row * region[1];
    return t->element && t->host.row >= region[0] * t->element && t->host.slice >= t->host.row * region[1];
}

/* Is it a read that goes beside the application? */
static bool is_beside(struct gs_queue *q, const struct gs_staged *t)
{
    GS_LOCKED(&q->o.ctx->lock);
    const enum gs_staging_way way =
        gs_staging_way(q, t->host.at, (uint64_t)t->region[0] * t->region[1] * t->region[2] * t->element, false);
    return way == GS_STAGED_BESIDE;
}

/* Enqueues it and ends it. */
static cl_int run(struct gs_home *h, cl_command_queue queue, const struct gs_op *op, struct side dst,
                  cl_command_type type, cl_bool blocking, cl_event *event)
{
    cl_event own = NULL;
    cl_int err = h->err;
    const bool wanted = h->held || h->cmd.ctx->parent || blocking || event;
    if (!err)
        err = gs_home_run(h, queue, op, type, wanted ? &own : NULL);
    if (op->kind == GS_OP_READ_IMAGE && h->by_units)
        gs_job_reads();
    if (!err)
        gs_home_wrote(h, dst.m, dst.r);
    return gs_home_image_end(h, err, type, blocking, own, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                                   const size_t *origin, const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadImage");
    count(GS_PATH_APP_READ, image, region);
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, image) : NULL;
    if (!m || !origin || !region)
        return gs_real()->clEnqueueReadImage(command_queue, image, blocking_read, origin, region, row_pitch,
                                             slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
    struct gs_home h;
    struct gs_staged t;
    cl_event own = NULL;
    const struct side from = box(m, origin, region);
    const bool texels = !num_events_in_wait_list == !event_wait_list &&
                        staged_texels(&t, m, false, origin, region, row_pitch, slice_pitch, ptr);
    if (texels && is_beside(q, &t) &&
        gs_read_beside(q, m, from.r, &t, CL_COMMAND_READ_IMAGE, blocking_read, num_events_in_wait_list, event_wait_list,
                       &own) == CL_SUCCESS)
        return gs_home_wait(CL_SUCCESS, blocking_read, own, event);
    if (texels && !gs_scheduled() && !gs_range_at_home(q, m, from.r)) {
        const cl_int err = gs_read_from_places(q, m, from.r, &t, CL_COMMAND_READ_IMAGE, num_events_in_wait_list,
                                               event_wait_list, &own);
        return gs_home_wait(err, blocking_read, own, event);
    }
    cl_command_queue queue;
    begin(&h, q, from, nothing, num_events_in_wait_list, event_wait_list, &queue);
    if (!h.extra.n && gs_home_image_blocks(&h, blocking_read)) {
        gs_home_end(&h, CL_SUCCESS);
        return gs_real()->clEnqueueReadImage(queue, image, CL_TRUE, origin, region, row_pitch, slice_pitch, ptr,
                                             num_events_in_wait_list, event_wait_list, event);
    }
    struct gs_op op = {.kind = GS_OP_READ_IMAGE, .src = image, .to_pitch = {row_pitch, slice_pitch}, .ptr = ptr};
    gs_set_box(&op, origin, none, region);
    return run(&h, queue, &op, nothing, CL_COMMAND_READ_IMAGE, blocking_read, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image,
                                                    cl_bool blocking_write, const size_t *origin, const size_t *region,
                                                    size_t input_row_pitch, size_t input_slice_pitch, const void *ptr,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    GS_CALL("clEnqueueWriteImage");
    count(GS_PATH_APP_WRITE, image, region);
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, image) : NULL;
    if (!m || !origin || !region)
        return gs_real()->clEnqueueWriteImage(command_queue, image, blocking_write, origin, region, input_row_pitch,
                                              input_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
    struct gs_home h;
    struct gs_staged t;
    cl_event own = NULL;
    const struct side to = box(m, origin, region);
    cl_int err = begin_home(&h, q, nothing, to, num_events_in_wait_list, event_wait_list);
    if (!err && staged_texels(&t, m, true, origin, region, input_row_pitch, input_slice_pitch, ptr) &&
        gs_home_beside(&h, m, CL_COMMAND_WRITE_IMAGE, blocking_write, &t, &own)) {
        gs_home_wrote(&h, m, to.r);
        return gs_home_wait(gs_home_end(&h, err), blocking_write, own, event);
    }
    cl_command_queue queue = err ? NULL : gs_home_image_queue(&h);
    err = h.err;
    if (gs_home_image_blocks(&h, blocking_write)) {
        gs_home_open(&h, m, to.r);
        err = gs_real()->clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, input_row_pitch, input_slice_pitch,
                                             ptr, h.n, h.v, event);
        gs_home_close(&h, m, to.r, err);
        return gs_home_end(&h, err);
    }
    struct gs_op op = {.kind = GS_OP_WRITE_IMAGE,
                       .dst = image,
                       .from_pitch = {input_row_pitch, input_slice_pitch},
                       .ptr = (void *)ptr};
    gs_set_box(&op, none, origin, region);
    return run(&h, queue, &op, to, CL_COMMAND_WRITE_IMAGE, blocking_write, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void *fill_color,
                                                   const size_t *origin, const size_t *region,
                                                   cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                   cl_event *event)
{
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, image) : NULL;
    if (!m || !fill_color || !origin || !region)
        return gs_real()->clEnqueueFillImage(command_queue, image, fill_color, origin, region, num_events_in_wait_list,
                                             event_wait_list, event);
    struct gs_home h;
    cl_command_queue queue;
    begin(&h, q, nothing, box(m, origin, region), num_events_in_wait_list, event_wait_list, &queue);
    struct gs_op op = {.kind = GS_OP_FILL_IMAGE, .dst = image};
    /* Of a depth image a float, else four components. */
    memcpy(op.pattern, fill_color, (m->format.image_channel_order == CL_DEPTH ? 1 : 4) * sizeof(cl_uint));
    gs_set_box(&op, none, origin, region);
    return run(&h, queue, &op, box(m, origin, region), CL_COMMAND_FILL_IMAGE, CL_FALSE, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                                   const size_t *src_origin, const size_t *dst_origin,
                                                   const size_t *region, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *src = q ? gs_find(GS_MEM, src_image) : NULL, *dst = q ? gs_find(GS_MEM, dst_image) : NULL;
    if ((!src && !dst) || !src_origin || !dst_origin || !region)
        return gs_real()->clEnqueueCopyImage(command_queue, src_image, dst_image, src_origin, dst_origin, region,
                                             num_events_in_wait_list, event_wait_list, event);
    struct gs_home h;
    cl_command_queue queue;
    begin(&h, q, box(src, src_origin, region), box(dst, dst_origin, region), num_events_in_wait_list, event_wait_list,
          &queue);
    struct gs_op op = {.kind = GS_OP_COPY_IMAGE, .src = src_image, .dst = dst_image};
    gs_set_box(&op, src_origin, dst_origin, region);
    return run(&h, queue, &op, box(dst, dst_origin, region), CL_COMMAND_COPY_IMAGE, CL_FALSE, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                                           cl_mem dst_buffer, const size_t *src_origin,
                                                           const size_t *region, size_t dst_offset,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *src = q ? gs_find(GS_MEM, src_image) : NULL, *dst = q ? gs_find(GS_MEM, dst_buffer) : NULL;
    if ((!src && !dst) || !src_origin || !region)
        return gs_real()->clEnqueueCopyImageToBuffer(command_queue, src_image, dst_buffer, src_origin, region,
                                                     dst_offset, num_events_in_wait_list, event_wait_list, event);
    struct gs_home h;
    cl_command_queue queue;
    begin(&h, q, box(src, src_origin, region), whole(dst), num_events_in_wait_list, event_wait_list, &queue);
    struct gs_op op = {.kind = GS_OP_IMAGE_TO_BUFFER, .src = src_image, .dst = dst_buffer};
    gs_set_box(&op, src_origin, (const size_t[3]){dst_offset}, region);
    return run(&h, queue, &op, whole(dst), CL_COMMAND_COPY_IMAGE_TO_BUFFER, CL_FALSE, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                                           cl_mem dst_image, size_t src_offset,
                                                           const size_t *dst_origin, const size_t *region,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *src = q ? gs_find(GS_MEM, src_buffer) : NULL, *dst = q ? gs_find(GS_MEM, dst_image) : NULL;
    if ((!src && !dst) || !dst_origin || !region)
        return gs_real()->clEnqueueCopyBufferToImage(command_queue, src_buffer, dst_image, src_offset, dst_origin,
                                                     region, num_events_in_wait_list, event_wait_list, event);
    struct gs_home h;
    cl_command_queue queue;
    begin(&h, q, whole(src), box(dst, dst_origin, region), num_events_in_wait_list, event_wait_list, &queue);
    struct gs_op op = {.kind = GS_OP_BUFFER_TO_IMAGE, .src = src_buffer, .dst = dst_image};
    gs_set_box(&op, (const size_t[3]){src_offset}, dst_origin, region);
    return run(&h, queue, &op, box(dst, dst_origin, region), CL_COMMAND_COPY_BUFFER_TO_IMAGE, CL_FALSE, event);
}
