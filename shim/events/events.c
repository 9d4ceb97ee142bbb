/* SPDX-License-Identifier: MIT */
#include "shim/events/events.h"

#include "common/lock/rank.h"
#include "common/memory.h"
#include "common/clock.h"

cl_int gs_events_add(struct gs_events *e, cl_event event)
{
    cl_event *v = gs_grown(e->v, e->n, &e->cap, sizeof *v);
    if (!v) {
        gs_real()->clReleaseEvent(event);
        return CL_OUT_OF_HOST_MEMORY;
    }
    e->v = v;
    e->v[e->n++] = event;
    return CL_SUCCESS;
}

cl_int gs_events_share(struct gs_events *e, cl_event event)
{
    cl_int err = event ? gs_real()->clRetainEvent(event) : CL_SUCCESS;
    return err ? err : gs_events_add(e, event);
}

cl_int gs_events_share_all(struct gs_events *e, const struct gs_events *from)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < from->n && !err; i++)
        err = gs_events_share(e, from->v[i]);
    return err;
}

cl_int gs_event_status(cl_event event)
{
    cl_int status = CL_COMPLETE;
    cl_int err = gs_real()->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return err ? err : status;
}

cl_uint gs_events_drop_complete(struct gs_events *e, bool failed)
{
    cl_uint n = 0, under_way = 0;
    for (cl_uint i = 0; i < e->n; i++) {
        const cl_int status = gs_event_status(e->v[i]);
        under_way += status > CL_COMPLETE;
        if (status == CL_COMPLETE || (failed && status < CL_COMPLETE))
            gs_real()->clReleaseEvent(e->v[i]);
        else
            e->v[n++] = e->v[i];
    }
    e->n = n;
    return under_way;
}

void gs_events_free(struct gs_events *e)
{
    for (cl_uint i = 0; i < e->n; i++)
        GS_RELEASE(Event, e->v[i]);
    free(e->v);
    *e = (struct gs_events){0};
}

void gs_events_wait(const struct gs_events *e)
{
    for (cl_uint i = 0; i < e->n; i++)
        gs_real()->clWaitForEvents(1, &e->v[i]);
}

bool gs_events_ended_by(const struct gs_events *e, uint64_t end_ns)
{
    GS_WAITS("events", NULL);
    while (!gs_events_ended(e))
        if (gs_now_ns() >= end_ns)
            return false;
    return true;
}
