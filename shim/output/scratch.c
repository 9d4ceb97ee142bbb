/* SPDX-License-Identifier: MIT */
#include "shim/output/output.h"

#include <stdlib.h>

/* Memory that the application could have had. */
enum { MOST_KEPT = 32, MOST_BYTES = 128 * 1024 * 1024, ONE_OF = 64 };

struct gs_scratch {
    cl_mem mem;
    uint64_t bytes;
    bool taken;
    struct gs_scratch *next;
};

/* One that is free, or a new one. Null with an error in *err. */
static struct gs_scratch *take_scratch(struct gs_context *ctx, uint64_t bytes, bool *made, cl_int *err)
{
    struct gs_scratch *best = NULL;
    *err = CL_SUCCESS;
    for (struct gs_scratch *s = ctx->scratch; s; s = s->next)
        if (!s->taken && s->bytes >= bytes && s->bytes / 4 <= bytes && (!best || s->bytes < best->bytes))
            best = s;
    *made = !best;
    if (best) {
        best->taken = true;
        return best;
    }
    cl_mem mem = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, err);
    if (*err)
        return NULL;
    if (!(best = malloc(sizeof *best))) {
        gs_real()->clReleaseMemObject(mem);
        *err = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *best = (struct gs_scratch){mem, bytes, true, ctx->scratch};
    return ctx->scratch = best;
}

/* In the launch's order: what is enqueued without one takes its unit at once, and the queue may hold what waits for a
 * thread of ours that needs units. */
static cl_int touch(struct gs_command *cmd, const struct gs_scratch *s, unsigned n, struct gs_events *ready)
{
    cl_event event;
    cl_int err = gs_put_touch(cmd, 0, s->mem, &event);
    if (err)
        return err;
    for (unsigned p = 0; p < n && !err; p++)
        err = gs_events_share(&ready[p], event);
    gs_real()->clReleaseEvent(event);
    return err;
}

cl_mem gs_scratch_take(struct gs_command *cmd, uint64_t bytes, unsigned n, struct gs_events *ready, cl_int *err)
{
    bool made;
    struct gs_scratch *s = take_scratch(cmd->ctx, bytes, &made, err);
    if (n && s && made)
        *err = touch(cmd, s, n, ready);
    return s ? s->mem : NULL;
}

/* More than MOST_BYTES, and, where the devices have memory of their own, than one of so many bytes of the first's. */
static bool is_too_much(const struct gs_context *ctx, uint64_t bytes)
{
    cl_ulong all = 0;
    if (bytes > MOST_BYTES && !ctx->shared_memory)
        gs_real()->clGetDeviceInfo(ctx->dev[0], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    return bytes > MOST_BYTES && bytes > all / ONE_OF;
}

/* Releases those that are taken, or all; and those that are beyond what is worth keeping. */
static void release(struct gs_context *ctx, bool taken, bool all)
{
    uint64_t bytes = 0;
    unsigned kept = 0;
    for (struct gs_scratch **at = &ctx->scratch; *at;) {
        struct gs_scratch *s = *at;
        if (all || (taken && s->taken) || kept == MOST_KEPT || is_too_much(ctx, bytes + s->bytes)) {
            *at = s->next;
            gs_real()->clReleaseMemObject(s->mem);
            free(s);
        } else {
            s->taken = false;
            bytes += s->bytes;
            kept++;
            at = &s->next;
        }
    }
}

void gs_scratch_give(struct gs_context *ctx, bool keep)
{
    release(ctx, !keep, false);
}

void gs_scratch_free(struct gs_context *ctx)
{
    release(ctx, false, true);
}
