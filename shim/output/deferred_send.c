/* SPDX-License-Identifier: MIT */
#include "shim/output/deferred_send.h"

#include <stdlib.h>

#include "common/log.h"
#include "shim/report/report.h"
#include "shim/memory/transfer.h"
#include "shim/record/keep.h"
#include "shim/record/enqueue.h"

enum { SLOT_BYTES = 2 * 1024 * 1024 };

/* What this room keeps of a context. With its lock held. */
struct gs_output {
    struct gs_pinned *ring; /* null: none was needed, or there is no memory for it */
    bool tried;
};

/* Through pinned memory, unless that can't be had, or the driver's own copies are asked for and the devices share the
 * host's memory. */
static struct gs_pinned *ring_of(struct gs_context *ctx)
{
    cl_int err;
    if ((gs_settings()->transfer == GS_TRANSFER_PLAIN && ctx->shared_memory) ||
        (!ctx->output && !(ctx->output = calloc(1, sizeof *ctx->output))))
        return NULL;
    struct gs_output *o = ctx->output;
    if (o->tried)
        return o->ring;
    o->tried = true;
    o->ring = gs_pinned_make(ctx, SLOT_BYTES, &err);
    if (err) {
        gs_pinned_free(o->ring);
        o->ring = NULL;
    }
    return o->ring;
}

void gs_output_free(struct gs_output *o)
{
    if (o)
        gs_pinned_free(o->ring);
    free(o);
}

cl_mem gs_deferred_send_keep(cl_mem m, cl_int *err)
{
    if (!*err)
        *err = gs_keep_mem(m);
    return *err ? NULL : m;
}

void gs_deferred_send_free(struct gs_deferred_send *d)
{
    d->free(d);
    for (unsigned p = 0; p < d->n; p++) {
        gs_events_free(&d->done[p]);
        if (d->queue[p])
            gs_real()->clReleaseCommandQueue(d->queue[p]);
    }
    gs_continuation_free(&d->continuation);
    gs_put_let_go(&d->put);
    gs_drop(&d->ctx->o);
    free(d);
}

static void free_undone(struct gs_continuation *continuation)
{
    gs_deferred_send_free((struct gs_deferred_send *)continuation);
}

/* What is under way works on the places' memory: before an error is acted on, its end. */
static cl_int send_all(struct gs_deferred_send *d, struct gs_events *all)
{
    cl_int err = d->send(d);
    for (unsigned p = 0; p < d->n; p++) {
        gs_real()->clFlush(d->queue[p]);
        if (!err)
            err = gs_events_share_all(all, &d->done[p]);
    }
    if (!err)
        return err;
    gs_debug("what a merge is to move could not be sent (error %d)", err);
    for (unsigned p = 0; p < d->n; p++) {
        gs_events_wait(&d->done[p]);
        gs_events_free(&d->done[p]);
    }
    gs_events_free(all);
    return err;
}

/* If a command is refused all is done over by the driver's own copies: the same bytes may be copied again. */
static void act(struct gs_continuation *continuation)
{
    struct gs_deferred_send *d = (struct gs_deferred_send *)continuation;
    struct gs_events all = {0};
    const struct gs_label before = gs_label_purpose(GS_FOR_MERGE);
    const struct gs_putting *put_before = gs_put_for(gs_put_kept(&d->put));
    cl_int err = d->dropped ? CL_SUCCESS : atomic_load(&continuation->status);
    if (!d->dropped && !err && (err = send_all(d, &all)) != CL_SUCCESS) {
        d->ring = NULL;
        err = send_all(d, &all);
    }
    gs_put_for(put_before);
    gs_label_back(before);
    if (d->sent)
        d->sent(d, err);
    if (err)
        gs_continuation_fail(continuation, err);
    gs_continuation_await(continuation, &all);
}

cl_int gs_deferred_send_make(struct gs_deferred_send *d, struct gs_command *cmd, unsigned n)
{
    cl_int err = CL_SUCCESS;
    d->continuation = (struct gs_continuation){.act = act, .free = free_undone};
    d->ctx = cmd->ctx;
    d->ring = ring_of(cmd->ctx);
    d->n = n;
    gs_hold(&d->ctx->o);
    gs_put_keep(&d->put);
    for (unsigned p = 0; p < n && !err; p++) {
        cl_command_queue queue = gs_queue_behind(cmd->q, GS_THREADS_QUEUE, p, &err);
        if (!err)
            err = gs_real()->clRetainCommandQueue(queue);
        d->queue[p] = err ? NULL : queue;
    }
    return err ? err : gs_continuation_make(&d->continuation, d->ctx);
}

void gs_deferred_send_begin(struct gs_deferred_send *d, struct gs_command *cmd, struct gs_events *known)
{
    for (unsigned p = 0; p < d->n; p++) {
        cl_int none;
        gs_real()->clFlush(gs_queue_behind(cmd->q, GS_COPY_QUEUE, p, &none));
    }
    gs_continuation_await(&d->continuation, known);
}

cl_int gs_deferred_send_copy(struct gs_deferred_send *d, unsigned from, unsigned to, const struct gs_op *copy,
                             const struct gs_events *wait, struct gs_events *done)
{
    const struct gs_transfer_thread thread = {d->ring ? gs_pinned_passage(d->ring) : NULL, d->queue};
    struct gs_command cmd = {.ctx = d->ctx, .thread = &thread};
    gs_report_moved(GS_PATH_MERGE, copy->region[0]);
    const cl_int err = gs_transfer_buffer(&cmd, copy, from, to, wait, done);
    gs_command_end(&cmd);
    return err;
}

cl_int gs_deferred_send_mark(struct gs_command *cmd, unsigned p, cl_uint n, const cl_event *wait, struct gs_events *to)
{
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, p, &err);
    if (!err)
        err = gs_enqueue_marker(queue, n, n ? wait : NULL, &event);
    return err ? err : gs_events_add(to, event);
}

cl_int gs_deferred_send_promise(struct gs_deferred_send *d, struct gs_command *cmd, unsigned p, struct gs_events *to)
{
    const cl_int err = gs_deferred_send_mark(cmd, p, 1, &d->continuation.end, to);
    return err ? err : gs_events_share(&d->continuation.marks, to->v[to->n - 1]);
}
