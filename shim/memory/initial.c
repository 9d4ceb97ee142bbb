/* SPDX-License-Identifier: MIT */
#include "shim/memory/initial.h"
#include "shim/record/enqueue.h"

bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr)
{
    return c && ptr && (flags & CL_MEM_COPY_HOST_PTR) && !(flags & CL_MEM_USE_HOST_PTR) && !gs_fast_path_careless() &&
           gs_scheduled();
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

cl_mem gs_initial_buffer(const struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err)
{
    /* What the host may not write after its making. */
    const cl_mem_flags closed = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    const uint64_t chunk = gs_transfer_chunk();
    cl_mem mem = chunk && size > chunk && !(flags & closed) ? make_by_pieces(c, flags, size, ptr, chunk) : NULL;
    *kept = mem ? CL_MEM_COPY_HOST_PTR : 0;
    if (mem) {
        if (err)
            *err = CL_SUCCESS;
        return mem;
    }
    /* The driver knows what is wrong with a call that we can't serve. */
    struct gs_unit u;
    gs_initial_begin(true, &u);
    mem = gs_real()->clCreateBuffer(c->o.handle, flags, size, ptr, err);
    gs_initial_end(&u);
    return mem;
}
