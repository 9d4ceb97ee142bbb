/* SPDX-License-Identifier: MIT */
#include "shim/transfer/ring.h"

cl_int gs_ring_take(struct gs_ring *r, unsigned *slot, struct gs_events *wait)
{
    *slot = r->next;
    r->next = (r->next + 1) % GS_RING_SLOTS;
    /* One that ended badly is not to be waited for: whoever does ends badly too. */
    if (r->last[*slot] && gs_event_ended(r->last[*slot])) {
        gs_real()->clReleaseEvent(r->last[*slot]);
        r->last[*slot] = NULL;
    }
    return r->last[*slot] ? gs_events_share(wait, r->last[*slot]) : CL_SUCCESS;
}

void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event)
{
    if (r->last[slot])
        gs_real()->clReleaseEvent(r->last[slot]);
    r->last[slot] = gs_real()->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
    if (!r->last[slot])
        gs_real()->clWaitForEvents(1, &event);
}

void gs_ring_free(struct gs_ring *r)
{
    for (unsigned i = 0; i < GS_RING_SLOTS; i++) {
        if (r->last[i])
            gs_real()->clReleaseEvent(r->last[i]);
        r->last[i] = NULL;
    }
}
