/* SPDX-License-Identifier: MIT */
/* Writes that don't go home, or not all of their bytes. To a job's one GPU, if that isn't the first: by way of the
 * first the bytes would cross the link and then both GPUs, and need units of both (H200s: 14 ms for 700 MB). And to
 * each GPU what that GPU alone has wanted since the last write. Entered and left with the context locked. */
#include "shim/api/home.h"

/* Is this a write to the one GPU of the job, which isn't the first? A GPU has a replica once a launch has needed the
 * buffer there. A buffer that only kernels at home use has none, and is written at home. */
static bool is_of_other_gpu(const struct gs_home *h)
{
    const struct gs_job *job = &h->job;
    const struct gs_range there = gs_replica_at(h->dst.m->root, job->place[0]).range;
    const struct gs_mem *root = h->dst.m->root;
    return h->cmd.units && job->n == 1 && job->place[0] && there.end - there.begin == root->size;
}

/* Finds h->runs, of which t is the transfer home, and what they wait for. False: home. `other`: is_of_other_gpu. */
static bool find_targets(struct gs_home *h, const struct gs_op_run *t, bool other, struct gs_extents *s)
{
    struct gs_mem *root = h->dst.m->root;
    struct gs_op_run there = *t;
    cl_int err = CL_SUCCESS;
    if (other) {
        there.place = h->job.place[0];
        there.op.dst = gs_replica_at(root, there.place).mem;
        err = gs_extents_add(s, &there);
    } else if (!h->cmd.units || h->job.n == h->cmd.ctx->n) /* tasks may lack devices */
        err = gs_host_targets(root, h->dst.range, t, s);
    for (unsigned i = 0; i < s->n && !err; i++)
        err = gs_ready_events(&h->cmd, root, 0, root, s->v[i].place, &h->ready);
    h->runs = s->v;
    h->n_runs = s->n;
    return !err && s->n;
}

/* Does the ring take the write? A call that blocks is not to wait for other queues' commands. */
static bool is_carried(struct gs_home *h)
{
    const bool asks =
        !h->cmd.op.blocking || !h->cmd.ctx->queues->next || gs_staging_is_ready(&h->ready, h->cmd.op.region[0]);
    const bool carries = asks && gs_ring_takes(h);
    h->vain = asks && !carries;
    return carries;
}

/* Writes to the GPU of a job without the ring. */
static cl_int write_units(struct gs_home *h, const struct gs_op_run *run, cl_event *own)
{
    cl_event end;
    cl_int err;
    cl_command_queue queue = gs_queue_of_kind(h->cmd.q, GS_COPY_QUEUE, run->place, &err);
    if (!err)
        err = gs_put(queue, &run->op, GS_VIA_HOST, h->ready.n, h->ready.v, &end);
    return err ? err : gs_finish_single(&h->cmd, end, run->place, own);
}

/* While the ring carries the bytes the context is unlocked, and no place holds the bytes as valid: another thread's
 * command would take old bytes along from their target, and put those over new ones elsewhere. */
static cl_int invalidate_and_carry(struct gs_home *h, cl_event *own)
{
    struct gs_mem *root = h->dst.m->root;
    if (gs_invalidate(root, h->dst.range) == 0) {
        const cl_int err = gs_carry_by_ring(h, own);
        if (err) /* until the caller has written to home */
            gs_spoil(root, h->dst.range);
        return err;
    }
    if (h->start)
        gs_event_replace(&h->start, NULL);
    else
        gs_staging_leave(h->cmd.ctx);
    return CL_OUT_OF_HOST_MEMORY;
}

bool gs_write_to_place(struct gs_home *h, const struct gs_op_run *t, cl_event *own)
{
    const struct gs_mem *root = h->dst.m->root;
    struct gs_context *ctx = h->cmd.ctx;
    struct gs_extents s = {0};
    const bool other = is_of_other_gpu(h);
    if (!(other || atomic_load(&ctx->spread)) || !gs_home_is_valid(h) || h->err || root->shared || root->image ||
        atomic_load(&ctx->user_events) || gs_given_up(ctx) || gs_home_is_in_use(h))
        return false;
    const bool ring =
        (h->cmd.op.blocking || gs_home_may_carry(h)) && gs_staging_may_carry(ctx, t->op.ptr, t->op.region[0]);
    bool goes = (ring || other) && find_targets(h, t, other, &s);
    if (goes && ring && is_carried(h))
        goes = invalidate_and_carry(h, own) == CL_SUCCESS; /* where a device is lost, home may not be */
    else
        goes = goes && other && write_units(h, s.v, own) == CL_SUCCESS;
    if (goes && !h->cmd.marker)
        gs_ring_wrote(h);
    gs_extents_free(&s);
    return goes;
}
