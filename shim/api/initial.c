/* SPDX-License-Identifier: MIT */
#include "shim/api/initial.h"

#include "shim/staging/staging.h"

bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr)
{
    return c && ptr && (flags & CL_MEM_COPY_HOST_PTR) && !(flags & CL_MEM_USE_HOST_PTR) && gs_scheduled();
}

void gs_initial_begin(bool wanted, struct gs_unit *u)
{
    *u = (struct gs_unit){0};
    if (!wanted)
        return;
    gs_unit_take(u, GS_RESOURCE_PCI, NULL);
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
        err = gs_enqueue_blocking(gs_op_write(mem, at, n, from + at), queue);
        gs_initial_end(&u);
    }
    return err;
}

/* Fills a new buffer through the ring, or, with chunks, by units. */
static cl_int fill(struct gs_context *c, cl_mem mem, void *ptr, size_t size, uint64_t chunk)
{
    cl_int err;
    if (!chunk)
        return gs_staging_fill(c, mem, ptr, size);
    cl_command_queue queue = gs_real()->clCreateCommandQueue(c->o.handle, c->dev[0], CL_QUEUE_PROFILING_ENABLE, &err);
    if (err)
        return err;
    err = write_pieces(queue, mem, ptr, size, chunk);
    gs_real()->clReleaseCommandQueue(queue);
    return err;
}

static bool may_go_by_ring(struct gs_context *c, const void *ptr, size_t size)
{
    GS_LOCKED(&c->lock);
    return gs_staging_may_fill(c, ptr, size);
}

cl_mem gs_initial_buffer(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err)
{
    /* The driver would refuse writes to such a buffer, or the buffer is the host's memory itself. */
    const bool closed = flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_USE_HOST_PTR);
    const bool by_units = gs_initial_wanted(c, flags, ptr);
    const uint64_t chunk = by_units ? gs_transfer_chunk() : 0;
    if (!closed && (by_units ? chunk && size > chunk : may_go_by_ring(c, ptr, size))) {
        const cl_mem_flags without = flags & ~(cl_mem_flags)CL_MEM_COPY_HOST_PTR;
        cl_mem mem = gs_real()->clCreateBuffer(c->o.handle, without, size, NULL, NULL);
        if (mem && fill(c, mem, ptr, size, chunk) == CL_SUCCESS) {
            *kept |= CL_MEM_COPY_HOST_PTR;
            gs_set_error(err, CL_SUCCESS);
            return mem;
        }
        GS_RELEASE(MemObject, mem);
    }
    /* Small, closed or failed: the driver makes the buffer with its contents, as one unit, and knows what is wrong. */
    struct gs_unit u;
    gs_initial_begin(by_units, &u);
    cl_mem mem = gs_real()->clCreateBuffer(c->o.handle, flags, size, ptr, err);
    gs_initial_end(&u);
    return mem;
}
