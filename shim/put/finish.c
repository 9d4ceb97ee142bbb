/* SPDX-License-Identifier: MIT */
#include "shim/put/put.h"

#include <stdlib.h>

cl_int gs_finish_command(struct gs_queue *q, cl_command_type type, const struct gs_events *ended,
                         const unsigned *device, cl_event *event)
{
    cl_event marker;
    const bool others = ended->n != 1 || !gs_is_last_event(q->o.handle, ended->v[0]); /* to be waited for */
    cl_int err = gs_enqueue_marker(q->o.handle, ended->n, ended->n ? ended->v : NULL, &marker);
    if (others)
        gs_timeline_enqueue_untracked(q->timeline);
    if (err)
        return err;
    if (ended->n > 1)
        gs_compound_add(q, marker, ended);
    gs_command_flush(q);
    if (gs_scheduled()) /* a marker that fails must be somebody's: PoCL (3.1) uses it once more after its end */
        gs_job_add(marker);
    if (!event) {
        gs_real()->clReleaseEvent(marker);
        return CL_SUCCESS;
    }
    struct gs_event *e = calloc(1, sizeof *e);
    if (e) {
        const cl_uint most = sizeof e->part / sizeof *e->part;
        e->command = type;
        for (cl_uint i = 0; i < ended->n && e->n < most; i++) {
            if (gs_real()->clRetainEvent(ended->v[i]) != CL_SUCCESS)
                continue;
            struct gs_event *of = gs_find_hold(GS_EVENT, ended->v[i]);
            e->part[e->n].event = ended->v[i];
            e->part[e->n].of = of;
            e->part[e->n++].device = device[i];
        }
        gs_insert(&e->o, GS_EVENT, marker, q->o.ctx);
    }
    *event = marker;
    return CL_SUCCESS;
}

cl_int gs_release_event(cl_event event)
{
    struct gs_object *last = gs_release(GS_EVENT, event);
    struct gs_event *e = (struct gs_event *)last;
    if (e && e->user && e->pending)
        atomic_fetch_sub(&e->o.ctx->user_events, 1);
    if (last) /* first: while it is known, the handle must not become another event's */
        gs_drop(last);
    return gs_real()->clReleaseEvent(event);
}
