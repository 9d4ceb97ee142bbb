/* SPDX-License-Identifier: MIT */
#include "shim/pooled/queues.h"

#include <stdlib.h>

#include "shim/pooled/pooled.h"
#include "shim/report/report.h"

cl_command_queue gs_pool_queue(struct gs_context *ctx, unsigned device, enum gs_pool_lane lane, cl_int *err)
{
    cl_command_queue *q = &ctx->pool->of[device][lane];
    *err = CL_SUCCESS;
    if (!*q)
        *q = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[device],
                                             gs_report_wants_times() ? CL_QUEUE_PROFILING_ENABLE : 0, err);
    return *q;
}

struct gs_pool_queues *gs_pool_queues_new(void)
{
    return calloc(1, sizeof(struct gs_pool_queues));
}

void gs_pool_queues_free(struct gs_pool_queues *q)
{
    for (unsigned i = 0; i < GS_MAX_DEVICES * GS_POOL_LANES; i++)
        if (q->of[i / GS_POOL_LANES][i % GS_POOL_LANES])
            gs_real()->clReleaseCommandQueue(q->of[i / GS_POOL_LANES][i % GS_POOL_LANES]);
    free(q);
}

cl_int gs_pool_transfer_begin(struct gs_pool_transfers *t, struct gs_context *ctx, unsigned device,
                              const struct gs_op *op)
{
    cl_int err;
    const enum gs_pool_lane lane =
        op->kind == GS_OP_READ || op->kind == GS_OP_READ_IMAGE ? GS_POOL_TO_HOST : GS_POOL_TO_DEVICE;
    struct gs_pool_transfer new = {.ctx = ctx, .queue = gs_pool_queue(ctx, device, lane, &err)};
    if (!err && t->n == GS_POOL_TRANSFERS)
        err = gs_pool_transfers_end(t);
    if (!err)
        err = gs_enqueue(op, new.queue, 0, NULL, &new.end);
    if (err)
        return err;
    t->v[t->n++] = new;
    gs_real()->clFlush(new.queue);
    return CL_SUCCESS;
}

cl_int gs_pool_transfers_end(struct gs_pool_transfers *t)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < t->n; i++) {
        const cl_int failed = gs_real()->clWaitForEvents(1, &t->v[i].end);
        gs_real()->clReleaseEvent(t->v[i].end);
        if (!failed)
            continue;
        gs_real()->clFinish(t->v[i].queue); /* if it was the waiting that failed */
        atomic_store(&t->v[i].ctx->pool->failed, failed);
        err = failed;
    }
    t->n = 0;
    return err;
}
