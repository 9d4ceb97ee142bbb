/* SPDX-License-Identifier: MIT */
/* Buffers in the host's memory, one for all devices: see object.h, section shared.c. The context's lock is held. */

#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/memory/bytes.h"

struct gs_shared {
    bool works;             /* may buffers in the host's memory be one memory for all devices? */
    cl_command_queue queue; /* the queue that asks for addresses, or null; owned */
};

void gs_shared_free(struct gs_shared *s)
{
    if (s)
        GS_RELEASE(CommandQueue, s->queue);
    free(s);
}

/* The host address of a buffer that lies in the host's memory. Unmaps at once: on such a device a buffer never moves,
 * and the driver works at this address (works() tests both). `wait` false: the buffer may be in use. */
static void *address_of(cl_command_queue queue, cl_mem buffer, size_t bytes, bool wait)
{
    cl_event unmapped;
    void *base;
    const struct gs_op map = {.kind = GS_OP_MAP_BUFFER,
                              .blocking = wait,
                              .src = buffer,
                              .region = {bytes, 1, 1},
                              .map_flags = CL_MAP_READ | CL_MAP_WRITE,
                              .mapped = &base};
    cl_int err = gs_enqueue(&map, queue, 0, NULL, NULL);
    const struct gs_op unmap = {.kind = GS_OP_UNMAP, .dst = buffer, .ptr = err ? NULL : base};
    if (err || gs_enqueue(&unmap, queue, 0, NULL, &unmapped) != CL_SUCCESS)
        return NULL;
    err = wait ? gs_real()->clWaitForEvents(1, &unmapped) : gs_real()->clFlush(queue);
    gs_real()->clReleaseEvent(unmapped);
    return err ? NULL : base;
}

/* Does a device see at the same address what another device has written through a second object? */
static bool works(struct gs_context *ctx, cl_command_queue *queue)
{
    enum { N = 4096 };
    cl_int err, err2;
    cl_uint seen = 0;
    const cl_uint written = 0x5a17c0de;
    cl_command_queue first = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, &err);
    cl_command_queue other = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[ctx->n - 1], 0, &err2);
    *queue = err ? NULL : first;
    cl_mem buffer = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, N, NULL, NULL), alias = NULL;
    void *base = !err && !err2 && buffer ? address_of(first, buffer, N, true) : NULL;
    if (base)
        alias = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, N, base, NULL);
    const bool ok =
        alias && gs_enqueue_blocking(gs_op_write(alias, 64, sizeof written, &written), other) == CL_SUCCESS &&
        gs_enqueue_blocking(gs_op_read(buffer, 64, sizeof seen, &seen), first) == CL_SUCCESS && seen == written;
    GS_RELEASE(MemObject, alias);
    GS_RELEASE(MemObject, buffer);
    if (!err2)
        gs_real()->clReleaseCommandQueue(other);
    return ok;
}

static bool possible(struct gs_context *ctx)
{
    struct gs_shared *s = ctx->shared;
    if (!s && (s = ctx->shared = calloc(1, sizeof *s))) {
        const enum gs_transfer_path path = gs_settings()->transfer;
        /* --verify checks what each part writes in its own memory */
        const bool wanted = (path == GS_TRANSFER_AUTO && !gs_settings()->verify) || path == GS_TRANSFER_SHARED;
        s->works = wanted && gs_group()->shared_memory && works(ctx, &s->queue);
        gs_debug("the devices %s buffers in the host's memory", s->works ? "share" : "don't share");
    }
    return s && s->works;
}

static void share(struct gs_mem *root, bool new)
{
    GS_MAY_WAIT("where a new buffer lies, and whether others may", 100 * GS_MS);
    if (possible(root->o.ctx))
        root->bytes->base = address_of(root->o.ctx->shared->queue, root->o.handle, (size_t)root->size, new);
    root->shared = root->bytes->base;
}

void gs_share(struct gs_mem *root)
{
    root->bytes->to_share = gs_settings()->mode == GS_MODE_AUTO && gs_group()->pocl && !gs_scheduled();
    if (!root->bytes->to_share)
        share(root, true);
}

void gs_share_now(struct gs_mem *root)
{
    bool replicas = false;
    if (!root->bytes->to_share)
        return;
    root->bytes->to_share = false;
    for (unsigned i = 1; i < root->o.ctx->n; i++)
        replicas = replicas || root->bytes->place[i].mem; /* made under a daemon: see make_plan */
    if (!replicas)
        share(root, false);
}

static void CL_CALLBACK let_go_of_owner(cl_mem alias, void *owner)
{
    (void)alias;
    gs_real()->clReleaseMemObject(owner);
}

/* A second object in the memory of the application's object, which is retained until the second object ends. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err)
{
    cl_mem owner = root->o.handle;
    cl_mem alias = gs_real()->clCreateBuffer(root->o.ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                             (size_t)root->size, root->bytes->base, err);
    if (!alias)
        return NULL;
    *err = gs_real()->clRetainMemObject(owner);
    if (!*err && (*err = gs_real()->clSetMemObjectDestructorCallback(alias, let_go_of_owner, owner)) != CL_SUCCESS)
        gs_real()->clReleaseMemObject(owner);
    if (!*err)
        return alias;
    gs_real()->clReleaseMemObject(alias);
    return NULL;
}
