/* SPDX-License-Identifier: MIT */
#include "shim/put/carry.h"

#include "shim/put/put.h"
#include "shim/schedule/dispatch.h"

static void drop_end(struct gs_carry *c)
{
    const cl_event end = c->end->o.handle;
    gs_drop(&c->end->o); /* first: while it is known, the handle must not become another event's */
    gs_real()->clReleaseEvent(end);
}

void gs_carry_mark(struct gs_queue *q)
{
    static const unsigned home;
    struct gs_carry *c = atomic_load(&q->carried);
    cl_int err = CL_SUCCESS;
    struct gs_event *e = c ? gs_event_new(q->o.ctx, &(struct gs_event){.user = true}, &err) : NULL;
    if (!e)
        return;
    cl_event end = e->o.handle;
    c->end = e;
    const struct gs_events ended = {.v = &end, .n = 1};
    err = gs_finish_command(q, gs_op_command_type(&c->cmd->op), &ended, &home, &c->marker);
    if (err) {
        drop_end(c);
        c->end = NULL;
        return;
    }
    atomic_store(&q->carried, NULL);
    c->marked(c);
}

cl_int gs_carry_end(struct gs_carry *c, cl_int err, const struct gs_events *ended, const unsigned *place,
                    cl_event *event)
{
    struct gs_queue *q = c->cmd->q;
    if (!c->end) {
        atomic_store(&q->carried, NULL);
        return err || !event ? err : gs_finish_command(q, gs_op_command_type(&c->cmd->op), ended, place, event);
    }
    for (cl_uint i = 0; q->profiling && i < ended->n; i++)
        gs_record_times(c->end, ended->v[i], (int64_t)gs_group()->clock_ns[place[i]]);
    /* Well, however the transfer does: what comes after it might as well have come before one that changes nothing. */
    gs_event_end(c->end->o.handle, CL_COMPLETE);
    drop_end(c);
    if (err || !event)
        gs_release_event(c->marker);
    else
        *event = c->marker;
    return err;
}
