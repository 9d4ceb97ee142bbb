/* SPDX-License-Identifier: MIT */
#include "shim/transfer/memory.h"

#include "common/log.h"

cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool waits)
{
    cl_int err;
    *m = (struct gs_pinned_memory){0};
    m->buffer = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &err);
    if (!err)
        m->queue = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, &err);
    if (!err)
        m->base = gs_real()->clEnqueueMapBuffer(m->queue, m->buffer, waits, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                                NULL, waits ? NULL : &m->mapped, &err);
    if (!err && !waits)
        gs_real()->clFlush(m->queue);
    if (!err)
        return CL_SUCCESS;
    gs_debug("no pinned memory of %zu bytes could be had (error %d)", bytes, err);
    m->base = NULL;
    m->mapped = NULL;
    gs_pinned_memory_free(m);
    return err;
}

void gs_pinned_memory_free(struct gs_pinned_memory *m)
{
    if (m->base)
        gs_real()->clEnqueueUnmapMemObject(m->queue, m->buffer, m->base, 0, NULL, NULL);
    if (m->mapped)
        gs_real()->clReleaseEvent(m->mapped);
    if (m->queue)
        gs_real()->clReleaseCommandQueue(m->queue);
    if (m->buffer)
        gs_real()->clReleaseMemObject(m->buffer);
    *m = (struct gs_pinned_memory){0};
}
