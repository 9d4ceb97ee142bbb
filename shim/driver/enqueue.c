/* SPDX-License-Identifier: MIT */
#include "shim/driver/enqueue.h"

#include "common/lock/rank.h"

#include "shim/driver/upward.h"
#include "shim/process/process.h"

bool gs_op_crosses_host(const struct gs_op *op)
{
    const unsigned by_host = 1u << GS_OP_READ | 1u << GS_OP_WRITE | 1u << GS_OP_READ_RECT | 1u << GS_OP_WRITE_RECT |
                             1u << GS_OP_READ_IMAGE | 1u << GS_OP_WRITE_IMAGE;
    return by_host >> op->kind & 1;
}

cl_int gs_enqueue_real(const struct gs_op *op, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *event)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    const size_t *from = op->no_from ? NULL : op->from, *to = op->no_to ? NULL : op->to;
    const size_t *region = op->no_region ? NULL : op->region;
    const size_t *from_pitch = op->from_pitch, *to_pitch = op->to_pitch;
    cl_int err = CL_SUCCESS;
    switch (op->kind) {
    case GS_OP_READ:
        return cl->clEnqueueReadBuffer(queue, op->src, op->blocking, op->from[0], op->region[0], op->ptr, n, wait,
                                       event);
    case GS_OP_WRITE:
        return cl->clEnqueueWriteBuffer(queue, op->dst, op->blocking, op->to[0], op->region[0], op->ptr, n, wait,
                                        event);
    case GS_OP_COPY:
        return cl->clEnqueueCopyBuffer(queue, op->src, op->dst, op->from[0], op->to[0], op->region[0], n, wait, event);
    case GS_OP_FILL:
        return cl->clEnqueueFillBuffer(queue, op->dst, op->pattern, op->pattern_bytes, op->to[0], op->region[0], n,
                                       wait, event);
    case GS_OP_READ_RECT:
        return cl->clEnqueueReadBufferRect(queue, op->src, op->blocking, from, to, region, from_pitch[0], from_pitch[1],
                                           to_pitch[0], to_pitch[1], op->ptr, n, wait, event);
    case GS_OP_WRITE_RECT:
        return cl->clEnqueueWriteBufferRect(queue, op->dst, op->blocking, to, from, region, to_pitch[0], to_pitch[1],
                                            from_pitch[0], from_pitch[1], op->ptr, n, wait, event);
    case GS_OP_COPY_RECT:
        return cl->clEnqueueCopyBufferRect(queue, op->src, op->dst, from, to, region, from_pitch[0], from_pitch[1],
                                           to_pitch[0], to_pitch[1], n, wait, event);
    case GS_OP_READ_IMAGE:
        return cl->clEnqueueReadImage(queue, op->src, op->blocking, from, region, to_pitch[0], to_pitch[1], op->ptr, n,
                                      wait, event);
    case GS_OP_WRITE_IMAGE:
        return cl->clEnqueueWriteImage(queue, op->dst, op->blocking, to, region, from_pitch[0], from_pitch[1], op->ptr,
                                       n, wait, event);
    case GS_OP_COPY_IMAGE:
        return cl->clEnqueueCopyImage(queue, op->src, op->dst, from, to, region, n, wait, event);
    case GS_OP_FILL_IMAGE:
        return cl->clEnqueueFillImage(queue, op->dst, op->pattern, to, region, n, wait, event);
    case GS_OP_IMAGE_TO_BUFFER:
        return cl->clEnqueueCopyImageToBuffer(queue, op->src, op->dst, from, region, op->to[0], n, wait, event);
    case GS_OP_BUFFER_TO_IMAGE:
        return cl->clEnqueueCopyBufferToImage(queue, op->src, op->dst, op->from[0], to, region, n, wait, event);
    case GS_OP_MAP_BUFFER:
        *op->mapped = cl->clEnqueueMapBuffer(queue, op->src, op->blocking, op->map_flags, op->from[0], op->region[0], n,
                                             wait, event, &err);
        return err;
    case GS_OP_MAP_IMAGE:
        *op->mapped = cl->clEnqueueMapImage(queue, op->src, op->blocking, op->map_flags, from, region, op->row_pitch,
                                            op->slice_pitch, n, wait, event, &err);
        return err;
    case GS_OP_UNMAP:
        return cl->clEnqueueUnmapMemObject(queue, op->dst, op->ptr, n, wait, event);
    case GS_OP_MIGRATE:
        if (!cl->clEnqueueMigrateMemObjects)
            return CL_INVALID_OPERATION;
        return cl->clEnqueueMigrateMemObjects(queue, op->n_mems, op->mems, op->migration_flags, n, wait, event);
    case GS_OP_LAUNCH:
        return cl->clEnqueueNDRangeKernel(queue, op->kernel, op->dims, op->offset, op->global, op->local, n, wait,
                                          event);
    case GS_OP_NATIVE:
        return cl->clEnqueueNativeKernel(queue, op->function, op->args, op->args_bytes, op->n_mems, op->mems,
                                         op->places, n, wait, event);
    case GS_OP_MARKER:
        return cl->clEnqueueMarkerWithWaitList(queue, n, wait, event);
    case GS_OP_BARRIER:
        return cl->clEnqueueBarrierWithWaitList(queue, n, wait, event);
    case GS_OP_KINDS:
        break;
    }
    return CL_INVALID_OPERATION;
}

static inline bool is_pooled(cl_command_queue queue)
{
    return gs_settings()->pooled && &gs_above_pool && gs_above_pool.takes(queue);
}

cl_int gs_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const struct gs_settings *s = gs_settings();
    if (op->blocking && op->kind != GS_OP_READ) /* a read tells the time in gs_timing_waited */
        gs_time_look();
    if (is_pooled(queue)) /* the driver has no such queue */
        return gs_above_pool.enqueue(op, queue, n_wait, wait, event);
    if (op->blocking) /* which not all locks allow: docs/locking.md */
        GS_WAITS("a command that blocks", NULL);
    if ((s->stats || s->trace) && &gs_above_driver) /* it calls gs_enqueue_real itself */
        return gs_above_driver.enqueue(op, queue, n_wait, wait, event);
    return gs_enqueue_real(op, queue, n_wait, wait, event);
}

cl_int gs_enqueue_marker(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return is_pooled(queue) ? gs_above_pool.enqueue(&(struct gs_op){.kind = GS_OP_MARKER}, queue, n_wait, wait, event)
                            : gs_real()->clEnqueueMarkerWithWaitList(queue, n_wait, wait, event);
}

cl_int gs_enqueue_barrier(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return is_pooled(queue) ? gs_above_pool.enqueue(&(struct gs_op){.kind = GS_OP_BARRIER}, queue, n_wait, wait, event)
                            : gs_real()->clEnqueueBarrierWithWaitList(queue, n_wait, wait, event);
}

cl_int gs_enqueue_marker_1_1(cl_command_queue queue, cl_event *event)
{
    if (!is_pooled(queue))
        return gs_real()->clEnqueueMarker(queue, event);
    return event ? gs_enqueue_marker(queue, 0, NULL, event) : CL_INVALID_VALUE;
}

cl_int gs_enqueue_barrier_1_1(cl_command_queue queue)
{
    return is_pooled(queue) ? gs_enqueue_barrier(queue, 0, NULL, NULL) : gs_real()->clEnqueueBarrier(queue);
}

cl_int gs_enqueue_wait_1_1(cl_command_queue queue, cl_uint n_wait, const cl_event *wait)
{
    if (!is_pooled(queue))
        return gs_real()->clEnqueueWaitForEvents(queue, n_wait, wait);
    return n_wait && wait ? gs_enqueue_barrier(queue, n_wait, wait, NULL) : CL_INVALID_VALUE;
}

cl_int gs_enqueue_blocking(struct gs_op op, cl_command_queue queue)
{
    op.blocking = CL_TRUE;
    return gs_enqueue(&op, queue, 0, NULL, NULL);
}
