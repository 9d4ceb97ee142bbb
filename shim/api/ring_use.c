/* SPDX-License-Identifier: MIT */
/* See home.h, section ring_use.c. */
#include "shim/api/home.h"

#include "shim/choose/timing.h"

void gs_ring_wrote(struct gs_home *h)
{
    struct gs_traffic *traffic = gs_traffic(h->dst.m->root);
    const uint64_t left = traffic->left;
    for (unsigned i = 0; i < h->n_runs; i++) {
        const struct gs_op_run *run = &h->runs[i];
        const uint64_t begin = run->op.to[0] + gs_replica_at(h->dst.m->root, run->place).range.begin;
        gs_note_write(h->dst.m->root, run->place, (struct gs_range){begin, begin + run->op.region[0]});
    }
    traffic->left = left;
}

bool gs_ring_takes(struct gs_home *h)
{
    struct gs_queue *q = h->cmd.q;
    const struct gs_range r = gs_home_side(h)->range;
    if (h->cmd.op.blocking)
        return gs_mark_out_of_order(q, q->o.handle, h->n, h->v, &h->start) == CL_SUCCESS;
    return gs_staging_queue_idle(q, &h->ready, r.end - r.begin) && gs_staging_enter(q->o.ctx, false);
}

/* Waits for all earlier commands, among them such as may still write to the host's memory. */
static cl_int await_all_before(struct gs_home *h)
{
    cl_int err = CL_SUCCESS;
    if (h->start) {
        err = gs_real()->clWaitForEvents(1, &h->start);
        gs_event_replace(&h->start, NULL);
    }
    gs_events_wait(&h->ready);
    gs_events_drop_complete(&h->ready, false);
    if (!err && h->ready.n)
        err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (!err)
        gs_staging_enter(h->cmd.ctx, true);
    return err;
}

/* gs_command.on_mark: the marker now stands for the transfer, so other calls may use the bytes behind it. */
static void marked(struct gs_command *cmd)
{
    struct gs_home *h = (struct gs_home *)cmd;
    gs_host_use_done(gs_home_side(h));
    if (h->dst.m && (h->n_runs > 1 || h->runs->place))
        gs_ring_wrote(h);
}

void gs_home_carry_begin(struct gs_home *h)
{
    enum { SOON_NS = 20 * 1000 };
    struct gs_side *use = gs_home_side(h);
    h->used = use->m;
    gs_carry_begin(&h->cmd, marked);
    use->writes = h->dst.m;
    gs_host_use_begin(use);
    pthread_mutex_unlock(&h->cmd.ctx->lock);
    /* NVIDIA's driver takes 3 to 10 us more for a piece that waits for another queue's. */
    h->times_link = gs_events_ended_by(&h->ready, gs_now_ns() + SOON_NS) && h->times_link;
    gs_events_drop_complete(&h->ready, false);
}

cl_int gs_home_carry_end(struct gs_home *h, cl_int err, cl_event *own)
{
    pthread_mutex_lock(&h->cmd.ctx->lock);
    gs_host_use_end(gs_home_side(h));
    err = gs_carry_end(&h->cmd, err, own);
    gs_events_free(&h->cmd.ended); /* the command may go another way now */
    return err;
}

static bool on_several(const struct gs_home *h)
{
    for (unsigned i = 1; i < h->n_runs; i++)
        if (h->runs[i].place != h->runs->place)
            return true;
    return false;
}

cl_int gs_carry_by_ring(struct gs_home *h, cl_event *own)
{
    struct gs_context *ctx = h->cmd.ctx;
    const struct gs_range r = gs_home_side(h)->range;
    gs_home_carry_begin(h);
    cl_int err = h->cmd.op.blocking ? await_all_before(h) : CL_SUCCESS;
    if (!err) {
        const uint64_t begin_ns = gs_now_ns();
        err = gs_staging_carry(ctx, h->runs, h->n_runs, &h->cmd);
        if (!err && h->times_link)
            gs_timing_read(r.end - r.begin, gs_now_ns() - begin_ns, on_several(h));
        gs_staging_leave(ctx);
    }
    return gs_home_carry_end(h, err, own);
}
