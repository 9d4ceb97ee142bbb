/* SPDX-License-Identifier: MIT */
/* See staging.h, section ring.c. */
#include "shim/staging/staging.h"

/* Adds uses that are under way. Failed ones are left out: a command that waits for a failed event fails as well. */
static cl_int share_running(struct gs_events *wait, const struct gs_events *of)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < of->n && !err; i++)
        if (!gs_event_ended(of->v[i]))
            err = gs_events_share(wait, of->v[i]);
    return err;
}

cl_int gs_ring_add_slots(struct gs_ring *r, const struct gs_context *ctx, unsigned slots)
{
    const size_t bytes = (slots - r->slots) * r->slot_bytes;
    const cl_int err = r->memory.base
                           ? gs_pinned_memory_add(&r->memory, ctx, bytes)
                           : gs_pinned_memory_make(&r->memory, ctx, bytes, GS_RING_SLOTS * r->slot_bytes, false);
    if (err) {
        r->most = r->slots;
        return err;
    }
    r->next = r->slots;
    r->slots = slots;
    return CL_SUCCESS;
}

cl_int gs_ring_take(struct gs_ring *r, unsigned *slot, struct gs_events *wait)
{
    const struct gs_events *use = &r->use[r->next];
    bool failed = false;
    cl_int err = CL_SUCCESS;
    *slot = r->next;
    r->next = (r->next + 1) % r->slots;
    for (cl_uint i = 0; i < use->n && !err; i++) {
        const cl_int status = gs_event_status(use->v[i]);
        failed = failed || status < CL_COMPLETE;
        if (status > CL_COMPLETE)
            err = gs_events_share(wait, use->v[i]);
    }
    return err || !failed ? err : share_running(wait, &r->earlier[*slot]);
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

bool gs_ring_is_idle(const struct gs_ring *r)
{
    bool idle = true;
    for (unsigned i = 0; i < GS_RING_SLOTS && idle; i++)
        idle = gs_events_ended(&r->use[i]) && gs_events_ended(&r->earlier[i]);
    return idle;
}

void gs_ring_free(struct gs_ring *r)
{
    if (gs_ring_is_idle(r))
        gs_pinned_memory_free(&r->memory);
    for (unsigned i = 0; i < GS_RING_SLOTS; i++) {
        gs_events_free(&r->use[i]);
        gs_events_free(&r->earlier[i]);
    }
}
