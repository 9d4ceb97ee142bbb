/* SPDX-License-Identifier: MIT */
/* Writes to a job's one GPU, if that isn't the first: by way of the first GPU the bytes would cross the link and then
 * both GPUs, and need units of both (H200s: 14 ms for 700 MB). Entered and left with the context locked. */
#include "shim/api/home.h"

/* Is this a write to the one GPU of the job, which isn't the first? A GPU has a replica once a launch has needed the
 * buffer there. A buffer that only kernels at home use has none, and is written at home. */
static bool is_of_other_gpu(struct gs_home *h)
{
    const struct gs_job *job = &h->put.job;
    const struct gs_mem *root = h->dst.m->root;
    return gs_home_is_valid(h) && !h->err && !root->shared && !root->image && !atomic_load(&h->cmd.ctx->user_events) &&
           !gs_given_up(h->cmd.ctx) && !gs_home_is_in_use(h) && h->cmd.units && job->n == 1 && job->place[0] &&
           gs_replica_at(root, job->place[0]);
}

/* Writes to the GPU of a job without the ring. */
static cl_int write_units(struct gs_home *h, const struct gs_op_run *run, cl_event *own)
{
    cl_event end;
    cl_int err;
    cl_command_queue queue = gs_queue_of_kind(h->cmd.q, GS_COPY_QUEUE, run->place, &err);
    if (!err)
        err = gs_put(queue, &run->op, GS_VIA_HOST, h->ready.n, h->ready.v, &end);
    return err ? err : gs_finish_single(h->cmd.q, CL_COMMAND_WRITE_BUFFER, end, run->place, own);
}

/* While the ring carries the bytes the context is unlocked, and no place holds the bytes as valid: another thread's
 * command would take old bytes along from their target, and put those over new ones elsewhere. */
static cl_int invalidate_and_carry(struct gs_home *h, cl_event *own)
{
    if (gs_invalidate(h->dst.m->root, h->dst.range) == 0)
        return gs_carry_by_ring(h, own);
    if (h->start)
        gs_event_replace(&h->start, NULL);
    else
        gs_staging_leave(h->cmd.ctx);
    return CL_OUT_OF_HOST_MEMORY;
}

bool gs_write_to_place(struct gs_home *h, const struct gs_op_run *t, cl_event *own)
{
    struct gs_mem *root = h->dst.m->root;
    if (!is_of_other_gpu(h))
        return false;
    struct gs_op_run there = *t;
    there.place = h->put.job.place[0];
    there.op.dst = gs_replica_at(root, there.place);
    h->runs = &there;
    h->n_runs = 1;
    cl_int err = gs_ready_events(&h->cmd, root, 0, root, there.place, &h->ready);
    /* Where that device is lost, home may not be. */
    if (!err && (h->cmd.op.blocking || gs_home_may_carry(h)) &&
        gs_staging_may_carry(h->cmd.ctx, t->op.ptr, t->op.region[0]) && gs_ring_prepare(h))
        err = invalidate_and_carry(h, own);
    else if (!err)
        err = write_units(h, &there, own);
    if (!err && !h->cmd.marker)
        gs_ring_wrote(h);
    return !err;
}
