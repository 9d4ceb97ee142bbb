/* SPDX-License-Identifier: MIT */
#include "shim/output/deferred_send.h"

#include "shim/schedule/put.h"
#include "shim/report/report.h"

enum {
    LEAST_BYTES = 1024 * 1024, /* to hear of the count and to act on it takes the time of about so many */
    LEAST_FORCED = 16 * 1024,  /* where the pinned path is asked for */
    SLOT_BYTES = 2 * 1024 * 1024
};

bool gs_deferred_send_worth(uint64_t bytes)
{
    return bytes >= (gs_settings()->transfer == GS_TRANSFER_PINNED ? LEAST_FORCED : LEAST_BYTES);
}

/* Through pinned memory, unless that can't be had, or the driver's own copies are asked for and the devices share the
 * host's memory. */
struct gs_pinned *gs_deferred_send_ring(struct gs_context *ctx)
{
    cl_int err;
    if ((gs_settings()->transfer == GS_TRANSFER_PLAIN && ctx->shared_memory) || ctx->sparse_ring || ctx->no_sparse_ring)
        return ctx->sparse_ring;
    ctx->sparse_ring = gs_pinned_make(ctx, SLOT_BYTES, &err);
    if (err) {
        gs_pinned_free(ctx->sparse_ring);
        ctx->sparse_ring = NULL;
        ctx->no_sparse_ring = true;
    }
    return ctx->sparse_ring;
}

cl_mem gs_deferred_send_keep(cl_mem m, cl_int *err)
{
    if (!*err)
        *err = gs_real()->clRetainMemObject(m);
    return *err ? NULL : m;
}

cl_command_queue gs_deferred_send_queue(struct gs_command *cmd, unsigned p, cl_int *err)
{
    cl_command_queue queue = *err ? NULL : gs_threads_queue(cmd->q, p, err);
    if (!*err)
        *err = gs_real()->clRetainCommandQueue(queue);
    return *err ? NULL : queue;
}

void gs_deferred_send_begin(struct gs_command *cmd, struct gs_continuation *continuation, unsigned n,
                            struct gs_events *known)
{
    for (unsigned p = 0; p < n; p++) {
        cl_int none;
        gs_real()->clFlush(gs_copy_queue(cmd->q, p, &none));
    }
    if (known->n)
        gs_continuation_await(continuation, known);
    else
        gs_continuation_end(continuation);
}

cl_int gs_deferred_send_copy(struct gs_pinned *ring, cl_command_queue from, cl_command_queue to,
                             const struct gs_buffer_copy *c, const struct gs_events *wait, struct gs_events *done)
{
    cl_event event;
    cl_int err;
    gs_report_moved(GS_PATH_MERGE, c->bytes);
    if (ring) {
        gs_report_moved(GS_PATH_PINNED, c->bytes);
        const struct gs_label before = gs_label_way(GS_WAY_PINNED);
        err = gs_pinned_pass(ring, from, to, c, wait, done);
        gs_label_back(before);
        return err;
    }
    gs_report_moved(GS_PATH_COPY, c->bytes);
    err =
        gs_put_copy(to, GS_VIA_HOST, c->src, c->dst, c->src_offset, c->dst_offset, c->bytes, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

cl_int gs_deferred_send_mark(struct gs_command *cmd, unsigned p, cl_uint n, const cl_event *wait, struct gs_events *to)
{
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    if (!err)
        err = gs_real()->clEnqueueMarkerWithWaitList(queue, n, n ? wait : NULL, &event);
    return err ? err : gs_events_add(to, event);
}

cl_int gs_deferred_send_promise(struct gs_command *cmd, struct gs_continuation *continuation, unsigned p,
                                struct gs_events *to)
{
    const cl_int err = gs_deferred_send_mark(cmd, p, 1, &continuation->end, to);
    return err ? err : gs_events_share(&continuation->marks, to->v[to->n - 1]);
}
