/* SPDX-License-Identifier: MIT */
#include "shim/driver/enqueue.h"

#include "common/lock/rank.h"

#include "shim/driver/upward.h"
#include "shim/process/process.h"

bool gs_op_is_by_host(const struct gs_op *op)
{
    switch (op->kind) {
    case GS_OP_READ:
    case GS_OP_WRITE:
    case GS_OP_READ_RECT:
    case GS_OP_WRITE_RECT:
    case GS_OP_READ_IMAGE:
    case GS_OP_WRITE_IMAGE:
        return true;
    default:
        return false;
    }
}

cl_command_type gs_op_command_type(const struct gs_op *op)
{
    static const cl_command_type types[GS_OP_KINDS] = {
        [GS_OP_READ] = CL_COMMAND_READ_BUFFER,
        [GS_OP_WRITE] = CL_COMMAND_WRITE_BUFFER,
        [GS_OP_COPY] = CL_COMMAND_COPY_BUFFER,
        [GS_OP_FILL] = CL_COMMAND_FILL_BUFFER,
        [GS_OP_READ_RECT] = CL_COMMAND_READ_BUFFER_RECT,
        [GS_OP_WRITE_RECT] = CL_COMMAND_WRITE_BUFFER_RECT,
        [GS_OP_COPY_RECT] = CL_COMMAND_COPY_BUFFER_RECT,
        [GS_OP_READ_IMAGE] = CL_COMMAND_READ_IMAGE,
        [GS_OP_WRITE_IMAGE] = CL_COMMAND_WRITE_IMAGE,
        [GS_OP_COPY_IMAGE] = CL_COMMAND_COPY_IMAGE,
        [GS_OP_FILL_IMAGE] = CL_COMMAND_FILL_IMAGE,
        [GS_OP_IMAGE_TO_BUFFER] = CL_COMMAND_COPY_IMAGE_TO_BUFFER,
        [GS_OP_BUFFER_TO_IMAGE] = CL_COMMAND_COPY_BUFFER_TO_IMAGE,
        [GS_OP_MAP_BUFFER] = CL_COMMAND_MAP_BUFFER,
        [GS_OP_MAP_IMAGE] = CL_COMMAND_MAP_IMAGE,
        [GS_OP_UNMAP] = CL_COMMAND_UNMAP_MEM_OBJECT,
        [GS_OP_MIGRATE] = CL_COMMAND_MIGRATE_MEM_OBJECTS,
        [GS_OP_LAUNCH] = CL_COMMAND_NDRANGE_KERNEL,
        [GS_OP_TASK] = CL_COMMAND_TASK,
        [GS_OP_NATIVE] = CL_COMMAND_NATIVE_KERNEL,
        [GS_OP_MARKER] = CL_COMMAND_MARKER,
        [GS_OP_BARRIER] = CL_COMMAND_BARRIER,
    };
    return types[op->kind];
}

/* Where it goes, and what it waits for. */
struct at {
    cl_command_queue queue;
    cl_uint n;
    const cl_event *wait;
    cl_event *event;
};

static __attribute__((hot)) cl_int linear(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    const size_t from = op->from[0], to = op->to[0], bytes = op->region[0];
    switch (op->kind) {
    case GS_OP_READ:
        return cl->clEnqueueReadBuffer(at->queue, op->src, op->blocking, from, bytes, op->ptr, at->n, at->wait,
                                       at->event);
    case GS_OP_WRITE:
        return cl->clEnqueueWriteBuffer(at->queue, op->dst, op->blocking, to, bytes, op->ptr, at->n, at->wait,
                                        at->event);
    case GS_OP_COPY:
        return cl->clEnqueueCopyBuffer(at->queue, op->src, op->dst, from, to, bytes, at->n, at->wait, at->event);
    default:
        return cl->clEnqueueFillBuffer(at->queue, op->dst, op->pattern, op->pattern_bytes, to, bytes, at->n, at->wait,
                                       at->event);
    }
}

static cl_int rect(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    const size_t *from = gs_op_from(op), *to = gs_op_to(op), *region = gs_op_region(op), *a = op->from_pitch,
                 *b = op->to_pitch;
    switch (op->kind) {
    case GS_OP_READ_RECT:
        return cl->clEnqueueReadBufferRect(at->queue, op->src, op->blocking, from, to, region, a[0], a[1], b[0], b[1],
                                           op->ptr, at->n, at->wait, at->event);
    case GS_OP_WRITE_RECT:
        return cl->clEnqueueWriteBufferRect(at->queue, op->dst, op->blocking, to, from, region, b[0], b[1], a[0], a[1],
                                            op->ptr, at->n, at->wait, at->event);
    default:
        return cl->clEnqueueCopyBufferRect(at->queue, op->src, op->dst, from, to, region, a[0], a[1], b[0], b[1], at->n,
                                           at->wait, at->event);
    }
}

static cl_int image(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    const size_t *from = gs_op_from(op), *to = gs_op_to(op), *region = gs_op_region(op);
    switch (op->kind) {
    case GS_OP_READ_IMAGE:
        return cl->clEnqueueReadImage(at->queue, op->src, op->blocking, from, region, op->to_pitch[0], op->to_pitch[1],
                                      op->ptr, at->n, at->wait, at->event);
    case GS_OP_WRITE_IMAGE:
        return cl->clEnqueueWriteImage(at->queue, op->dst, op->blocking, to, region, op->from_pitch[0],
                                       op->from_pitch[1], op->ptr, at->n, at->wait, at->event);
    case GS_OP_COPY_IMAGE:
        return cl->clEnqueueCopyImage(at->queue, op->src, op->dst, from, to, region, at->n, at->wait, at->event);
    case GS_OP_FILL_IMAGE:
        return cl->clEnqueueFillImage(at->queue, op->dst, op->pattern, to, region, at->n, at->wait, at->event);
    case GS_OP_IMAGE_TO_BUFFER:
        return cl->clEnqueueCopyImageToBuffer(at->queue, op->src, op->dst, from, region, op->to[0], at->n, at->wait,
                                              at->event);
    default:
        return cl->clEnqueueCopyBufferToImage(at->queue, op->src, op->dst, op->from[0], to, region, at->n, at->wait,
                                              at->event);
    }
}

static cl_int map(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    cl_int err = CL_SUCCESS;
    switch (op->kind) {
    case GS_OP_MAP_BUFFER:
        *op->mapped = cl->clEnqueueMapBuffer(at->queue, op->src, op->blocking, op->map_flags, op->from[0],
                                             op->region[0], at->n, at->wait, at->event, &err);
        return err;
    case GS_OP_MAP_IMAGE:
        *op->mapped =
            cl->clEnqueueMapImage(at->queue, op->src, op->blocking, op->map_flags, gs_op_from(op), gs_op_region(op),
                                  op->row_pitch, op->slice_pitch, at->n, at->wait, at->event, &err);
        return err;
    default:
        return cl->clEnqueueUnmapMemObject(at->queue, op->dst, op->ptr, at->n, at->wait, at->event);
    }
}

static cl_int migrate(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    return cl->clEnqueueMigrateMemObjects
               ? cl->clEnqueueMigrateMemObjects(at->queue, op->n_mems, op->mems, op->migration_flags, at->n, at->wait,
                                                at->event)
               : CL_INVALID_OPERATION;
}

static __attribute__((hot)) cl_int kernel(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    switch (op->kind) {
    case GS_OP_LAUNCH:
        return cl->clEnqueueNDRangeKernel(at->queue, op->kernel, op->dims, op->offset, op->global, op->local, at->n,
                                          at->wait, at->event);
    case GS_OP_TASK:
        return cl->clEnqueueTask(at->queue, op->kernel, at->n, at->wait, at->event);
    default:
        return cl->clEnqueueNativeKernel(at->queue, op->function, op->args, op->args_bytes, op->n_mems, op->mems,
                                         op->places, at->n, at->wait, at->event);
    }
}

static cl_int order(const struct gs_op *op, const struct at *at)
{
    const struct _cl_icd_dispatch *cl = gs_real();
    return op->kind == GS_OP_MARKER ? cl->clEnqueueMarkerWithWaitList(at->queue, at->n, at->wait, at->event)
                                    : cl->clEnqueueBarrierWithWaitList(at->queue, at->n, at->wait, at->event);
}

__attribute__((hot)) cl_int gs_enqueue_real(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait,
                                            const cl_event *wait, cl_event *event)
{
    static cl_int (*const by_kind[GS_OP_KINDS])(const struct gs_op *, const struct at *) = {
        [GS_OP_READ] = linear,           [GS_OP_WRITE] = linear,
        [GS_OP_COPY] = linear,           [GS_OP_FILL] = linear,
        [GS_OP_READ_RECT] = rect,        [GS_OP_WRITE_RECT] = rect,
        [GS_OP_COPY_RECT] = rect,        [GS_OP_READ_IMAGE] = image,
        [GS_OP_WRITE_IMAGE] = image,     [GS_OP_COPY_IMAGE] = image,
        [GS_OP_FILL_IMAGE] = image,      [GS_OP_IMAGE_TO_BUFFER] = image,
        [GS_OP_BUFFER_TO_IMAGE] = image, [GS_OP_MAP_BUFFER] = map,
        [GS_OP_MAP_IMAGE] = map,         [GS_OP_UNMAP] = map,
        [GS_OP_MIGRATE] = migrate,       [GS_OP_LAUNCH] = kernel,
        [GS_OP_TASK] = kernel,           [GS_OP_NATIVE] = kernel,
        [GS_OP_MARKER] = order,          [GS_OP_BARRIER] = order,
    };
    return by_kind[op->kind](op, &(struct at){queue, n_wait, wait, event});
}

__attribute__((hot)) cl_int gs_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait,
                                       const cl_event *wait, cl_event *event)
{
    const struct gs_settings *s = gs_settings();
    if (s->pooled && &gs_above_pool && gs_above_pool.takes(queue))
        return gs_above_pool.enqueue(op, queue, n_wait, wait, event);
    if (op->blocking)
        GS_WAITS("a command that blocks", NULL);
    if ((s->stats || s->trace) && &gs_above_driver)
        return gs_above_driver.enqueue(op, queue, n_wait, wait, event);
    return gs_enqueue_real(op, queue, n_wait, wait, event);
}

cl_int gs_enqueue_marker(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return order(&(struct gs_op){.kind = GS_OP_MARKER}, &(struct at){queue, n_wait, wait, event});
}

cl_int gs_enqueue_read(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, void *to)
{
    struct gs_op op = gs_op_read(buffer, offset, bytes, to);
    op.blocking = CL_TRUE;
    return gs_enqueue(&op, queue, 0, NULL, NULL);
}

cl_int gs_enqueue_write(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, const void *from)
{
    struct gs_op op = gs_op_write(buffer, offset, bytes, from);
    op.blocking = CL_TRUE;
    return gs_enqueue(&op, queue, 0, NULL, NULL);
}
