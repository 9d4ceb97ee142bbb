/* SPDX-License-Identifier: MIT */
#include "shim/output/continuation.h"

#include "shim/order/completion.h"

cl_int gs_continuation_make(struct gs_continuation *p, const struct gs_context *ctx)
{
    cl_int err;
    p->end = gs_real()->clCreateUserEvent(ctx->o.handle, &err);
    return err;
}

void gs_continuation_free(struct gs_continuation *p)
{
    gs_events_free(&p->marks);
    if (p->end)
        gs_real()->clReleaseEvent(p->end);
}

void gs_continuation_fail(struct gs_continuation *p, cl_int status)
{
    int none = CL_COMPLETE;
    atomic_compare_exchange_strong(&p->status, &none, status);
}

static void act(struct gs_work *work)
{
    struct gs_continuation *p = (struct gs_continuation *)work;
    p->acts = true;
    p->act(p);
}

static void free_continuation(struct gs_work *work)
{
    struct gs_continuation *p = (struct gs_continuation *)work;
    p->free(p);
}

/* Not freed in a callback: a driver may wait for a queue's commands when it is released for the last time. */
static void end(struct gs_continuation *p)
{
    gs_event_end(p->end, atomic_load(&p->status));
    p->work.run = free_continuation;
    gs_work_add(GS_WORK_LATER, &p->work);
}

/* What was awaited has ended: that is its own end once `act` has enqueued what it is pledged for, and else its turn. */
static void go_on(struct gs_continuation *p)
{
    if (p->acts) {
        end(p);
        return;
    }
    p->work.run = act;
    gs_work_add(GS_WORK_LATER, &p->work);
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *data)
{
    struct gs_continuation *p = data;
    (void)event;
    if (status < 0)
        gs_continuation_fail(p, p->acts ? status : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    if (atomic_fetch_sub(&p->awaits, 1) == 1)
        go_on(p);
}

void gs_continuation_await(struct gs_continuation *p, struct gs_events *events)
{
    const cl_uint n = events->n;
    atomic_store(&p->awaits, n);
    for (cl_uint i = 0; i < n; i++)
        if (!gs_await_end(events->v[i], NULL, ended, p))
            ended(events->v[i], gs_real()->clWaitForEvents(1, &events->v[i]), p);
    gs_events_free(events);
    if (!n)
        go_on(p);
}
