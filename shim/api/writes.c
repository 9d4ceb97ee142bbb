/* SPDX-License-Identifier: MIT */
/* Transfers that the call carries through the ring; and writes to a job's one GPU, if that isn't the first: by way of
 * the first GPU the bytes would cross the link and then both GPUs, and need units of both (H200s: 14 ms for 700 MB).
 * Entered and left with the context locked, which is unlocked while the ring carries bytes. */
#include "shim/api/transfer.h"
#include "shim/choose/timing.h"

/* Is this a write to the one GPU of the job, which isn't the first? A GPU has a replica once a launch has needed the
 * buffer there. A buffer that only kernels at home use has none, and is written at home. */
static bool is_of_other_gpu(const struct gs_home *h, const struct gs_mem *m, struct gs_range r)
{
    const struct gs_job *job = &h->put.job;
    return gs_home_is_valid(h) && !h->err && !m->root->shared && !m->root->image &&
           !atomic_load(&h->cmd.ctx->user_events) && !gs_given_up(h->cmd.ctx) &&
           !gs_is_host_using(m->root, &GS_ONE_RANGE(r)) && h->by_units && job->n == 1 && job->place[0] &&
           gs_replica_at(m->root, job->place[0]);
}

/* Writes to the GPU of a job without the ring. */
static cl_int write_units(struct gs_home *h, const struct gs_staged *run, const struct gs_events *ready, cl_event *own)
{
    cl_event end;
    cl_int err;
    cl_command_queue queue = gs_queue_of_kind(h->cmd.q, GS_COPY_QUEUE, run->place, &err);
    if (!err)
        err = gs_put(queue, &run->op, GS_VIA_HOST, ready->n, ready->v, &end);
    return err ? err : gs_finish_single(h->cmd.q, CL_COMMAND_WRITE_BUFFER, end, run->place, own);
}

/* Notes the write, without counting its bytes as left by a launch. */
static void wrote(struct gs_mem *root, unsigned place, struct gs_range r)
{
    const uint64_t left = gs_traffic(root)->left;
    gs_note_write(root, place, r);
    gs_traffic(root)->left = left;
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
        wrote(w->use.m->root, w->v->place, w->use.range);
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

cl_int gs_home_carry_end(struct gs_home *h, struct gs_ring_use *w, cl_int err, struct gs_staged_ends *ended,
                         cl_event *own)
{
    pthread_mutex_lock(&h->cmd.ctx->lock);
    gs_host_use_end(&w->use);
    h->marked = w->carried.end;
    err = gs_carry_end(&w->carried, err, &ended->events, ended->place, own);
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
    struct gs_staged_ends ended = {0};
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

/* While the ring carries the bytes the context is unlocked, and no place holds the bytes as valid: another thread's
 * command would take old bytes along from their target, and put those over new ones elsewhere. */
static cl_int invalidate_and_carry(struct gs_home *h, struct gs_ring_use *w, cl_event *own)
{
    if (gs_invalidate(w->use.m->root, w->use.range) == 0)
        return gs_carry_by_ring(h, w, own);
    if (w->marker)
        gs_real()->clReleaseEvent(w->marker);
    else
        gs_staging_leave(h->cmd.ctx);
    return CL_OUT_OF_HOST_MEMORY;
}

bool gs_write_to_place(struct gs_home *h, struct gs_mem *m, const struct gs_staged *t, cl_event *own)
{
    const struct gs_range r = {t->op.to[0], t->op.to[0] + t->op.region[0]};
    if (!is_of_other_gpu(h, m, r))
        return false;
    struct gs_staged there = *t;
    struct gs_ring_use w = {.use = {.m = m, .range = r}, .v = &there, .n = 1};
    there.place = h->put.job.place[0];
    there.op.dst = gs_replica_at(m->root, there.place);
    cl_int err = gs_ready_events(&h->cmd, m->root, 0, m->root, there.place, &w.ready);
    /* Where that device is lost, home may not be. */
    if (!err && (h->cmd.op.blocking || gs_home_may_carry(h)) &&
        gs_staging_may_carry(h->cmd.ctx, t->op.ptr, t->op.region[0]) && gs_ring_prepare(h, &w))
        err = invalidate_and_carry(h, &w, own);
    else if (!err)
        err = write_units(h, &there, &w.ready, own);
    if (!err && !h->marked)
        wrote(m->root, there.place, r);
    gs_events_free(&w.ready);
    return !err;
}
