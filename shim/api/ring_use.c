/* SPDX-License-Identifier: MIT */
/* Entered and left with the context locked, which is unlocked while the ring carries bytes. */
#include "shim/api/ring_use.h"

#include "shim/choose/timing.h"

void gs_ring_wrote(const struct gs_ring_use *w)
{
    struct gs_traffic *traffic = gs_traffic(w->use.m->root);
    const uint64_t left = traffic->left;
    gs_note_write(w->use.m->root, w->v->place, w->use.range);
    traffic->left = left;
}

bool gs_ring_prepare(struct gs_home *h, struct gs_ring_use *w)
{
    struct gs_queue *q = h->cmd.q;
    if (h->cmd.op.blocking)
        return gs_mark_out_of_order(q, q->o.handle, h->n, h->v, &w->marker) == CL_SUCCESS;
    return gs_staging_queue_idle(q, &w->ready, gs_staged_bytes(w->v)) && gs_staging_enter(q->o.ctx, false);
}

/* Waits for all earlier commands, among them such as may still write to the host's memory. */
static cl_int await_all_before(struct gs_context *ctx, struct gs_ring_use *w)
{
    cl_int err = CL_SUCCESS;
    if (w->marker) {
        err = gs_real()->clWaitForEvents(1, &w->marker);
        gs_real()->clReleaseEvent(w->marker);
    }
    gs_events_wait(&w->ready);
    gs_events_drop_complete(&w->ready, false);
    if (!err && w->ready.n)
        err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (!err)
        gs_staging_enter(ctx, true);
    return err;
}

static void marked(struct gs_carry *c)
{
    struct gs_ring_use *w = (struct gs_ring_use *)c;
    gs_host_use_done(&w->use);
    if (w->v->place && w->v->op.dst)
        gs_ring_wrote(w);
}

void gs_home_carry_begin(struct gs_home *h, struct gs_ring_use *w)
{
    enum { SOON_NS = 20 * 1000 };
    h->used = w->use.m;
    w->carried = (struct gs_carry){.cmd = &h->cmd, .marked = marked};
    gs_carry_begin(&w->carried);
    w->use.writes = w->v->op.dst;
    gs_host_use_begin(&w->use);
    pthread_mutex_unlock(&h->cmd.ctx->lock);
    /* NVIDIA's driver takes 3 to 10 us more for a piece that waits for another queue's. */
    w->times_link = gs_events_ended_by(&w->ready, gs_now_ns() + SOON_NS) && w->times_link;
    gs_events_drop_complete(&w->ready, false);
}

cl_int gs_home_carry_end(struct gs_home *h, struct gs_ring_use *w, cl_int err, struct gs_placed *ended, cl_event *own)
{
    pthread_mutex_lock(&h->cmd.ctx->lock);
    gs_host_use_end(&w->use);
    h->marked = w->carried.end;
    err = gs_carry_end(&w->carried, err, ended, own);
    gs_events_free(&ended->events);
    return err;
}

static bool on_several(const struct gs_ring_use *w)
{
    for (unsigned i = 1; i < w->n; i++)
        if (w->v[i].place != w->v->place)
            return true;
    return false;
}

cl_int gs_carry_by_ring(struct gs_home *h, struct gs_ring_use *w, cl_event *own)
{
    struct gs_context *ctx = h->cmd.ctx;
    struct gs_placed ended = {0};
    gs_home_carry_begin(h, w);
    cl_int err = h->cmd.op.blocking ? await_all_before(ctx, w) : CL_SUCCESS;
    if (!err) {
        const uint64_t begin_ns = gs_now_ns();
        err = gs_staging_carry(ctx, w->v, w->n, h->cmd.q->profiling, false, &ended);
        if (!err && w->times_link)
            gs_timing_read(w->use.range.end - w->use.range.begin, gs_now_ns() - begin_ns, on_several(w));
        gs_staging_leave(ctx);
    }
    return gs_home_carry_end(h, w, err, &ended, own);
}
