/* SPDX-License-Identifier: MIT */
#include "shim/staging/ring.h"

#include <string.h>

cl_int gs_ring_share_running(struct gs_events *wait, const struct gs_events *of)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < of->n && !err; i++)
        if (!gs_event_ended(of->v[i]))
            err = gs_events_share(wait, of->v[i]);
    return err;
}

cl_int gs_ring_take(struct gs_ring *r, unsigned n, unsigned *slot, struct gs_events *wait)
{
    cl_int err = CL_SUCCESS;
    *slot = r->next + n <= GS_RING_SLOTS ? r->next : 0;
    r->next = (*slot + n) % GS_RING_SLOTS;
    for (unsigned k = 0; k < n; k++) {
        const struct gs_events *use = &r->use[*slot + k];
        bool failed = false;
        for (cl_uint i = 0; i < use->n && !err; i++) {
            const cl_int status = gs_event_status(use->v[i]);
            failed = failed || status < CL_COMPLETE;
            if (status > CL_COMPLETE)
                err = gs_events_share(wait, use->v[i]);
        }
        if (!err && failed)
            err = gs_ring_share_running(wait, &r->earlier[*slot + k]);
    }
    return err;
}

void gs_ring_add(struct gs_ring *r, unsigned slot, cl_event event)
{
    if (gs_events_share(&r->use[slot], event) != CL_SUCCESS)
        gs_real()->clWaitForEvents(1, &event);
}

static void forget_oldest(struct gs_events *e)
{
    cl_uint n = 0;
    while (n < e->n && gs_event_ended(e->v[n]))
        gs_real()->clReleaseEvent(e->v[n++]);
    e->n -= n;
    if (n)
        memmove(e->v, e->v + n, e->n * sizeof *e->v);
}

void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event)
{
    struct gs_events *use = &r->use[slot], *earlier = &r->earlier[slot];
    forget_oldest(earlier);
    for (cl_uint i = 0; i < use->n; i++)
        gs_events_add(earlier, use->v[i]);
    use->n = 0;
    gs_ring_add(r, slot, event);
}

cl_int gs_ring_uses(const struct gs_ring *r, struct gs_events *ends)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < GS_RING_SLOTS && !err; i++) {
        err = gs_ring_share_running(ends, &r->use[i]);
        if (!err)
            err = gs_ring_share_running(ends, &r->earlier[i]);
    }
    return err;
}

void gs_ring_free(struct gs_ring *r)
{
    for (unsigned i = 0; i < GS_RING_SLOTS; i++) {
        gs_events_free(&r->use[i]);
        gs_events_free(&r->earlier[i]);
    }
}
