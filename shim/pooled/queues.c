/* SPDX-License-Identifier: MIT */
/* See store.h, section queues.c. */
#include "shim/pooled/store.h"

#include "shim/put/put.h"
#include "shim/report/report.h"

/* Transfers of all devices and contexts that have begun. Many rows may be very many transfers. */
enum { MOST_TRANSFERS = 1024 };
static struct {
    struct transfer {
        struct gs_context *ctx;
        cl_command_queue queue;
        cl_event end;
    } v[MOST_TRANSFERS];
    size_t n;
} under_way;

/* By which both directions are under way at once. */
enum { PASS_BYTES = 16 * GS_POOL_PIECE };

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
        GS_RELEASE(CommandQueue, q->of[i / GS_POOL_LANES][i % GS_POOL_LANES]);
    gs_pool_host_free(&q->passing);
    free(q);
}

static cl_int begin(struct gs_context *ctx, unsigned device, const struct gs_op *op, const cl_event *after)
{
    cl_int err;
    const enum gs_pool_lane lane =
        op->kind == GS_OP_READ || op->kind == GS_OP_READ_IMAGE ? GS_POOL_TO_HOST : GS_POOL_TO_DEVICE;
    struct transfer new = {.ctx = ctx, .queue = gs_pool_queue(ctx, device, lane, &err)};
    if (!err)
        err = gs_put(new.queue, op, GS_VIA_MEMORY, after ? 1 : 0, after, &new.end);
    if (err)
        return gs_pool_transfer_error(err);
    under_way.v[under_way.n++] = new;
    return CL_SUCCESS;
}

cl_int gs_pool_begin(struct gs_context *ctx, unsigned device, const struct gs_op *op)
{
    const cl_int err = under_way.n == MOST_TRANSFERS ? gs_pool_transfers_end() : CL_SUCCESS;
    return err ? err : begin(ctx, device, op, NULL);
}

/* Bytes within one piece; null: all are taken. */
static char *pass_memory(struct gs_context *ctx, uint64_t bytes)
{
    struct gs_pool_queues *q = ctx->pool;
    const uint64_t next = (q->pass_used + GS_POOL_PIECE - 1) / GS_POOL_PIECE * GS_POOL_PIECE,
                   at = q->pass_used + bytes > next ? next : q->pass_used;
    if (at + bytes > PASS_BYTES)
        return NULL;
    q->pass_used = at + bytes;
    gs_pool_host_pin(&q->passing, at);
    return q->passing.base + at;
}

cl_int gs_pool_pass_begin(struct gs_context *ctx, unsigned from, struct gs_op *read, unsigned to, struct gs_op *write)
{
    struct gs_pool_host *h = &ctx->pool->passing;
    const size_t bytes = read->kind == GS_OP_READ ? read->region[0] : GS_POOL_PIECE;
    cl_int err = CL_SUCCESS;
    h->ctx = ctx;
    h->pinned = &ctx->pool->pass_pinned;
    if (!gs_pool_host_make(h, PASS_BYTES))
        return CL_OUT_OF_HOST_MEMORY;
    char *by = under_way.n + 2 > MOST_TRANSFERS ? NULL : pass_memory(ctx, bytes);
    if (!by) {
        err = gs_pool_transfers_end();
        ctx->pool->pass_used = 0;
        by = pass_memory(ctx, bytes);
    }
    read->ptr = write->ptr = by;
    err = err ? err : begin(ctx, from, read, NULL);
    return err ? err : begin(ctx, to, write, &under_way.v[under_way.n - 1].end);
}

cl_int gs_pool_transfers_end(void)
{
    cl_int err = CL_SUCCESS;
    for (struct transfer *t = under_way.v; t < under_way.v + under_way.n; t++) {
        const cl_int failed = gs_real()->clWaitForEvents(1, &t->end);
        t->ctx->pool->pass_used = 0;
        gs_real()->clReleaseEvent(t->end);
        if (!failed)
            continue;
        gs_real()->clFinish(t->queue); /* if it was the waiting that failed */
        atomic_store(&t->ctx->pool->failed, failed);
        err = gs_pool_transfer_error(failed);
    }
    under_way.n = 0;
    return err;
}
