/* SPDX-License-Identifier: MIT */
#include "shim/order/compound.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct gs_compound {
    cl_event end;
    struct gs_events of;
};

/* The oldest n of them. */
static void drop_oldest(struct gs_queue *q, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gs_events_free(&q->behind->several[i].of);
        gs_real()->clReleaseEvent(q->behind->several[i].end);
    }
    if (n < q->behind->n_several)
        memmove(q->behind->several, q->behind->several + n, (q->behind->n_several - n) * sizeof *q->behind->several);
    q->behind->n_several -= n;
}

static void forget_ended(struct gs_queue *q)
{
    size_t n = 0;
    while (n < q->behind->n_several && gs_event_status(q->behind->several[n].end) == CL_COMPLETE)
        n++;
    drop_oldest(q, n);
}

void gs_compound_add(struct gs_queue *q, cl_event end, const struct gs_events *of)
{
    forget_ended(q);
    struct gs_compound *more =
        gs_grown(q->behind->several, q->behind->n_several, &q->behind->several_cap, sizeof *more);
    if (!more)
        return;
    q->behind->several = more;
    struct gs_compound s = {.end = end};
    if (gs_real()->clRetainEvent(end) != CL_SUCCESS)
        return;
    gs_events_share_all(&s.of, of);
    q->behind->several[q->behind->n_several++] = s;
}

/* PoCL (3.1) uses a marker that has failed once more when the rest of what it waited for ends. */
static void spoil_failed(struct gs_context *ctx, const struct gs_compound *s)
{
    bool any = false;
    for (cl_uint i = 0; i < s->of.n; i++) {
        const bool ended = gs_event_ended(s->of.v[i]);
        cl_event end = ended ? NULL : gs_command_leave(ctx, s->of.v[i]);
        if (end)
            gs_events_share(&ctx->ends->unended, end);
        any = any || !ended;
    }
    if (any)
        gs_events_share(&ctx->ends->failed, s->end);
}

void gs_compound_look(struct gs_queue *q)
{
    forget_ended(q);
    const struct gs_compound *several = q->behind->several;
    const size_t n = q->behind->n_several;
    if (!n || (gs_event_status(several[0].end) >= CL_COMPLETE && gs_event_status(several[n - 1].end) >= CL_COMPLETE))
        return;
    for (size_t i = 0; i < n; i++)
        spoil_failed(q->o.ctx, &several[i]);
    drop_oldest(q, n);
}

void gs_compound_look_all(struct gs_context *ctx)
{
    for (struct gs_queue *q = ctx->queues; q; q = q->next)
        gs_compound_look(q);
}

cl_int gs_compound_await(struct gs_context *ctx, struct gs_events *to)
{
    if (!ctx->ends->unended.n)
        return CL_SUCCESS;
    if (!gs_events_drop_complete(&ctx->ends->unended, true))
        gs_events_free(&ctx->ends->failed);
    return gs_events_share_all(to, &ctx->ends->unended);
}

void gs_compound_leave(struct gs_queue *q)
{
    struct gs_events *orphans = &q->o.ctx->ends->orphans;
    cl_event end;
    gs_compound_look(q);
    for (size_t i = 0; i < q->behind->n_several; i++)
        for (cl_uint k = 0; k < q->behind->several[i].of.n; k++)
            gs_events_share(orphans, q->behind->several[i].of.v[k]);
    drop_oldest(q, q->behind->n_several);
    if (q->o.ctx->n > 1 && !q->o.ctx->pooled &&
        (gs_enqueue_marker(q->o.handle, 0, NULL, &end) != CL_SUCCESS || gs_events_add(orphans, end) != CL_SUCCESS))
        gs_real()->clFinish(q->o.handle);
}
