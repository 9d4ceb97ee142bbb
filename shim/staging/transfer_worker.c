/* SPDX-License-Identifier: MIT */
#include "shim/staging/transfer_worker.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "shim/process/work_queue.h"
#include "shim/schedule/dispatch.h"
#include "shim/order/completion.h"
#include "shim/put/finish.h"
#include "shim/put/put.h"
#include "shim/record/objects.h"
#include "shim/driver/enqueue.h"

enum { SOON_NS = 20 * 1000 };

/* A command that is to be carried out. */
struct errand {
    struct gs_work work; /* first */
    struct gs_mem *m;    /* held; its handle is retained */
    struct gs_staged *v;
    unsigned n;
    struct gs_putting put; /* for whom; kept */
    bool profiling;
    bool unheard;            /* nobody tells when `ready` has ended */
    cl_int status;           /* CL_QUEUED, or that of `done` */
    cl_event ready;          /* the commands before have ended */
    cl_event done;           /* a user event */
    cl_event marker;         /* the application's event, which waits for it */
    struct gs_event *record; /* what is known of `done`: its times */
};

static void set_status(struct errand *e, cl_int status)
{
    e->status = status;
    gs_event_end(e->done, status);
}

/* PoCL (3.1) uses a marker that fails once more after its end: such ones are kept for ever. */
static void free_events(struct errand *e)
{
    gs_drop(&e->record->o); /* first: while it is known, the handle must not become another event's */
    if (e->status != CL_COMPLETE)
        return;
    gs_real()->clReleaseEvent(e->done);
    gs_real()->clReleaseEvent(e->ready);
    gs_real()->clReleaseEvent(e->marker);
}

static void free_errand(struct errand *e)
{
    gs_put_drop(&e->put);
    free(e->v);
    free(e);
}

/* Each by the first device's clock. */
static void learn_times(const struct errand *e, const struct gs_staged_ends *ended)
{
    for (cl_uint i = 0; e->profiling && i < ended->events.n; i++)
        gs_record_times(e->record, ended->events.v[i], (int64_t)gs_group()->clock_ns[ended->place[i]]);
}

static cl_int carry(struct errand *e)
{
    struct gs_staged_ends ended = {0};
    if (e->unheard && gs_real()->clWaitForEvents(1, &e->ready) != CL_SUCCESS)
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    const struct gs_putting *before = gs_put_for(gs_put_kept(&e->put));
    gs_staging_enter(e->m->o.ctx, true);
    const cl_int err = gs_staging_carry(e->m->o.ctx, e->v, e->n, e->profiling, true, &ended);
    gs_staging_leave(e->m->o.ctx);
    gs_put_for(before);
    learn_times(e, &ended);
    gs_events_free(&ended.events);
    return err;
}

static void serve(struct gs_work *work)
{
    struct errand *e = (struct errand *)work;
    struct gs_context *ctx = e->m->o.ctx;
    gs_hold(&ctx->o);
    const cl_int err = e->status == CL_QUEUED ? carry(e) : CL_SUCCESS;
    gs_drop_mem(e->m->o.handle);
    if (e->status == CL_QUEUED)
        set_status(e, err);
    free_events(e);
    free_errand(e);
    gs_drop(&ctx->o);
}

/* The commands before have ended, or one of them has failed: then so does this one, at once. */
static void could_run(cl_event event, cl_int status, void *data)
{
    struct errand *e = data;
    (void)event;
    if (status < 0)
        set_status(e, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    gs_work_add(&e->work);
}

static cl_int make_done(struct errand *e, struct gs_context *ctx)
{
    cl_int err;
    e->record = gs_event_new(ctx, &(struct gs_event){.user = true}, &err);
    e->done = err ? NULL : e->record->o.handle;
    return err;
}

/* The two markers. */
static cl_int enqueue(struct errand *e, const struct gs_command *cmd, const struct gs_events *wait)
{
    struct gs_queue *q = cmd->q;
    static const unsigned home;
    const struct gs_events ended = {.v = &e->done, .n = 1};
    cl_int err = gs_mark_out_of_order(q, q->o.handle, wait->n, wait->n ? wait->v : NULL, &e->ready);
    if (err)
        return err;
    err = gs_finish_command(q, gs_op_command_type(&cmd->op), &ended, &home, &e->marker);
    if (err)
        gs_real()->clReleaseEvent(e->ready);
    return err;
}

cl_int gs_carry_beside(const struct gs_command *cmd, struct gs_mem *m, const struct gs_staged *v, unsigned n,
                       const struct gs_events *wait, cl_event *event)
{
    struct gs_queue *q = cmd->q;
    if (m->o.ctx != q->o.ctx)
        return CL_INVALID_CONTEXT;
    struct errand *e = gs_work_is_done() ? calloc(1, sizeof *e) : NULL;
    if (!e || !(e->v = malloc(n * sizeof *v))) {
        free(e);
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(e->v, v, n * sizeof *v);
    e->work.run = serve;
    e->m = m;
    e->n = n;
    e->profiling = q->profiling;
    gs_put_keep(&e->put);
    e->status = CL_QUEUED;
    cl_int err = make_done(e, q->o.ctx);
    if (!err && (err = enqueue(e, cmd, wait)) != CL_SUCCESS) {
        gs_drop(&e->record->o);
        gs_real()->clReleaseEvent(e->done);
    }
    if (err) {
        free_errand(e);
        return err;
    }
    *event = e->marker;
    gs_real()->clRetainEvent(e->marker);
    gs_keep_mem(m->o.handle);
    cl_event ready = e->ready;
    if (gs_events_ended_by(&(const struct gs_events){.v = &ready, .n = 1}, gs_now_ns() + SOON_NS)) {
        could_run(ready, gs_event_status(ready), e);
    } else if (!gs_await_end(ready, NULL, could_run, e)) {
        e->unheard = true;
        gs_work_add(&e->work);
    }
    return CL_SUCCESS;
}
