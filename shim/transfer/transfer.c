/* SPDX-License-Identifier: MIT */
#include "shim/transfer/transfer.h"

#include <stdlib.h>

#include "shim/report.h"

/* Through the host in pieces of this size, so that reading one overlaps with writing the one before. */
enum { STAGE_BYTES = 4 * 1024 * 1024 };

/* The driver's own copy: on devices that share the host's memory it is a memcpy. */
static cl_int copy_directly(struct gs_command *cmd, cl_mem src, cl_mem dst, unsigned to, uint64_t src_offset,
                            uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait, struct gs_events *done)
{
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(cmd->q, to, &err);
    if (!err)
        err = gs_real()->clEnqueueCopyBuffer(queue, src, dst, src_offset, dst_offset, bytes, wait->n,
                                             wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

static void CL_CALLBACK free_stage(cl_event event, cl_int status, void *stage)
{
    (void)event;
    (void)status;
    free(stage);
}

/* Frees `stage` once `last` is complete. */
static void free_after(cl_event last, void *stage)
{
    if (gs_real()->clSetEventCallback(last, CL_COMPLETE, free_stage, stage) != CL_SUCCESS) {
        gs_real()->clWaitForEvents(1, &last);
        free(stage);
    }
}

static cl_int copy_staged(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                          uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                          struct gs_events *done)
{
    cl_int err;
    cl_command_queue in = gs_copy_queue(cmd->q, from, &err), out = err ? NULL : gs_copy_queue(cmd->q, to, &err);
    for (uint64_t at = 0; at < bytes && !err;) {
        size_t n = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
        void *stage = malloc(n);
        cl_event read, write;
        if (!stage)
            return CL_OUT_OF_HOST_MEMORY;
        err = gs_real()->clEnqueueReadBuffer(in, src, CL_FALSE, src_offset + at, n, stage, wait->n,
                                             wait->n ? wait->v : NULL, &read);
        if (err) {
            free(stage);
            return err;
        }
        gs_real()->clFlush(in);
        err = gs_real()->clEnqueueWriteBuffer(out, dst, CL_FALSE, dst_offset + at, n, stage, 1, &read, &write);
        free_after(err ? read : write, stage);
        gs_real()->clReleaseEvent(read);
        at += n;
        if (err)
            break;
        if (at < bytes)
            gs_real()->clReleaseEvent(write); /* the last one of an in-order queue stands for all */
        else
            err = gs_events_add(done, write);
    }
    return err;
}

cl_int gs_transfer_buffer(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                          uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                          struct gs_events *done)
{
    if (!bytes)
        return CL_SUCCESS;
    gs_report_moved(cmd->ctx->shared_memory ? GS_PATH_COPY : GS_PATH_HOST, bytes);
    if (cmd->ctx->shared_memory || from == to)
        return copy_directly(cmd, src, dst, to, src_offset, dst_offset, bytes, wait, done);
    return copy_staged(cmd, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
}

uint64_t gs_image_bytes(const struct gs_mem *root, size_t region[3])
{
    size_t element = 0;
    const cl_image_desc *d = &root->desc;
    gs_real()->clGetImageInfo(root->o.handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    region[0] = d->image_width;
    region[1] = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? d->image_array_size : d->image_height;
    region[2] = d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? d->image_array_size : d->image_depth;
    for (int i = 0; i < 3; i++)
        region[i] = region[i] ? region[i] : 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE1D)
        region[1] = region[2] = 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE2D || d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        region[2] = 1;
    return (uint64_t)region[0] * region[1] * region[2] * element;
}

static cl_int transfer_image(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to,
                             struct gs_events *done)
{
    static const size_t origin[3];
    size_t region[3];
    const uint64_t bytes = gs_image_bytes(root, region);
    const struct gs_events *wait = &cmd->before;
    cl_int err;
    cl_event read, write;
    cl_command_queue in = gs_image_queue(cmd->q, from, &err), out = err ? NULL : gs_image_queue(cmd->q, to, &err);
    void *stage = err ? NULL : malloc(bytes);
    if (!stage)
        return err ? err : CL_OUT_OF_HOST_MEMORY;
    gs_report_moved(cmd->ctx->shared_memory ? GS_PATH_COPY : GS_PATH_HOST, bytes);
    err = gs_real()->clEnqueueReadImage(in, root->place[from].mem, CL_FALSE, origin, region, 0, 0, stage, wait->n,
                                        wait->n ? wait->v : NULL, &read);
    if (err) {
        free(stage);
        return err;
    }
    gs_real()->clFlush(in);
    err = gs_real()->clEnqueueWriteImage(out, root->place[to].mem, CL_FALSE, origin, region, 0, 0, stage, 1, &read,
                                         &write);
    free_after(err ? read : write, stage);
    gs_real()->clReleaseEvent(read);
    return err ? err : gs_events_add(done, write);
}

cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to, struct gs_range r,
                   struct gs_events *done)
{
    cl_int err;
    if (root->is_image)
        err = transfer_image(cmd, root, from, to, done);
    else
        err = gs_transfer_buffer(cmd, root->place[from].mem, from, root->place[to].mem, to, r.begin, r.begin,
                                 r.end - r.begin, &cmd->before, done);
    struct gs_replica *dst = &root->place[to];
    if (!err && done->n) {
        if (dst->ready)
            gs_real()->clReleaseEvent(dst->ready);
        dst->ready = done->v[done->n - 1];
        gs_real()->clRetainEvent(dst->ready);
    }
    return err;
}
