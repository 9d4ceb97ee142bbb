/* SPDX-License-Identifier: MIT */
#include "shim/schedule/first_launch.h"

#include <stdlib.h>

#include "common/memory.h"
#include "shim/order/callbacks.h"
#include "shim/order/command.h"
#include "shim/order/completion.h"
#include "shim/schedule/deferred.h"

bool gs_is_first_launch(struct gs_queue *q, const struct gs_units *units)
{
    return !q->out_of_order && gs_kind_is_new(units->kind) && gs_unit_is_sole() && !gs_callbacks_ever() &&
           !atomic_load(&q->o.ctx->user_events) && gs_queue_is_idle(q);
}

static void unit_ended(cl_event event, cl_int status, void *data)
{
    (void)event;
    (void)status;
    gs_unit_over(data);
    free(data);
}

/* Has it ended by then? Its unit is given back when it has. */
static bool await_unit(cl_event event, struct gs_unit *u, uint64_t until_ns)
{
    bool over;
    while (!(over = gs_event_ended(event)) && gs_now_ns() < until_ns)
        ;
    if (!over && gs_await_end(event, NULL, unit_ended, u))
        return false;
    if (!over)
        gs_real()->clWaitForEvents(1, &event);
    unit_ended(event, CL_COMPLETE, u);
    return over;
}

static bool run_unit(struct gs_queue *q, unsigned resource, const struct gs_units *units, unsigned i, cl_event *event,
                     struct gs_unit **u)
{
    *u = gs_zeroed(sizeof **u);
    const bool granted = *u && gs_unit_try(*u, resource, GS_LENGTH_UNKNOWN);
    const bool runs = granted && units->enqueue(units->work, i, q->o.handle, 0, NULL, event) == CL_SUCCESS;
    if (granted)
        gs_unit_to(*u, runs ? GS_UNIT_SUBMITTED : GS_UNIT_FAILED);
    if (!runs)
        free(*u);
    return runs;
}

unsigned gs_run_first(struct gs_queue *q, unsigned resource, const struct gs_units *units)
{
    const uint64_t begin_ns = gs_now_ns();
    struct gs_unit *u;
    cl_event event;
    unsigned n = 0;
    bool over = true;
    while (n < units->n && over && run_unit(q, resource, units, n, &event, &u)) {
        n++;
        gs_job_add(event);
        gs_real()->clFlush(q->o.handle);
        over = await_unit(event, u, begin_ns + GS_BATCH_SOLE_NS);
        gs_real()->clReleaseEvent(event);
    }
    const uint64_t took_ns = gs_now_ns() - begin_ns;
    if (units->spent)
        atomic_fetch_add(&units->spent->kernel_ns[units->place], took_ns);
    if (n) {
        gs_chunk_learn(units->kind, units->factor, n, took_ns);
        gs_whole_learn(units->kind, units->groups, took_ns * units->n / n);
    }
    struct gs_drained *d = n == units->n && over ? gs_drained_of(q) : NULL;
    if (d)
        gs_has_drained(d, gs_queue_call(q));
    return n;
}
