/* SPDX-License-Identifier: MIT */
#include "shim/api/initial.h"

#include "shim/staging/staging.h"
#include "shim/driver/enqueue.h"

bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr)
{
    return c && ptr && (flags & CL_MEM_COPY_HOST_PTR) && !(flags & CL_MEM_USE_HOST_PTR) && gs_scheduled();
}

void gs_initial_begin(bool wanted, struct gs_unit *u)
{
    *u = (struct gs_unit){0};
    if (!wanted)
        return;
    gs_unit_take(u, GS_RESOURCE_PCI);
    gs_unit_on(u, GS_UNIT_SUBMIT);
}

void gs_initial_end(struct gs_unit *u)
{
    if (gs_unit_is(u, GS_UNIT_SUBMITTED))
        gs_unit_on(u, GS_UNIT_COMPLETES);
}

/* Each piece is on the device before its unit is given back. */
static cl_int write_pieces(cl_command_queue queue, cl_mem mem, const char *from, size_t size, size_t chunk)
{
    cl_int err = CL_SUCCESS;
    for (size_t at = 0; at < size && !err; at += chunk) {
        struct gs_unit u;
        const size_t n = size - at < chunk ? size - at : chunk;
        gs_initial_begin(true, &u);
        err = gs_enqueue_write(queue, mem, at, n, from + at);
        gs_initial_end(&u);
    }
    return err;
}

static cl_mem make_by_pieces(const struct gs_context *c, cl_mem_flags flags, size_t size, const void *ptr, size_t chunk)
{
    cl_int err;
    cl_mem mem = gs_real()->clCreateBuffer(c->o.handle, flags & ~(cl_mem_flags)CL_MEM_COPY_HOST_PTR, size, NULL, &err);
    if (err)
        return NULL;
    cl_command_queue queue = gs_real()->clCreateCommandQueue(c->o.handle, c->dev[0], CL_QUEUE_PROFILING_ENABLE, &err);
    if (!err)
        err = write_pieces(queue, mem, ptr, size, chunk);
    if (queue)
        gs_real()->clReleaseCommandQueue(queue);
    if (err)
        gs_real()->clReleaseMemObject(mem);
    return err ? NULL : mem;
}

/* A large one, which is filled through the pinned ring. */
static cl_mem make_by_ring(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr)
{
    enum { MAY_BE_STAGED = 4096 };
    cl_int err;
    if (size < MAY_BE_STAGED || gs_scheduled())
        return NULL;
    pthread_mutex_lock(&c->lock);
    const bool may = gs_staging_may_fill(c, ptr, size);
    pthread_mutex_unlock(&c->lock);
    cl_mem mem =
        may ? gs_real()->clCreateBuffer(c->o.handle, flags & ~(cl_mem_flags)CL_MEM_COPY_HOST_PTR, size, NULL, &err)
            : NULL;
    if (!mem || gs_staging_fill(c, mem, ptr, size) == CL_SUCCESS)
        return mem;
    gs_real()->clReleaseMemObject(mem);
    return NULL;
}

cl_mem gs_initial_buffer(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err)
{
    /* What the host may not write after its making, or is to be its own memory. */
    const bool closed = flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_USE_HOST_PTR);
    const bool by_units = gs_initial_wanted(c, flags, ptr);
    const uint64_t chunk = by_units ? gs_transfer_chunk() : 0;
    struct gs_unit u;
    cl_mem mem = NULL;
    if (!closed && !by_units)
        mem = make_by_ring(c, flags, size, ptr);
    else if (!closed && chunk && size > chunk)
        mem = make_by_pieces(c, flags, size, ptr, chunk);
    *kept = mem ? CL_MEM_COPY_HOST_PTR : 0;
    if (mem) {
        if (err)
            *err = CL_SUCCESS;
        return mem;
    }
    /* The driver knows what is wrong with a call that we can't serve. */
    gs_initial_begin(by_units, &u);
    mem = gs_real()->clCreateBuffer(c->o.handle, flags, size, ptr, err);
    gs_initial_end(&u);
    return mem;
}
