/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: writing buffers. */
#include "shim/api/buffer.h"
#include "shim/report/report.h"
#include "shim/memory/staging.h"
#include "shim/report/watch.h"

static struct gs_staged whole_write(const struct gs_op *op)
{
    return gs_staged_run(op->dst, 0, true, op->to[0], op->region[0], op->ptr);
}

/* Gives the context's lock back while the bytes are on their way, and says twice that they are home's: before, so that
 * nobody brings older ones there; and after, so that what somebody fetched from there meanwhile, for other bytes' sake,
 * doesn't count. Without a marker, the ring has been entered. */
static cl_int write_staged(struct gs_home *h, struct gs_mem *m, cl_event marker, cl_event *own)
{
    const struct gs_staged run = whole_write(&h->cmd.op);
    const struct gs_staged_write w = {.root = m->root, .v = &run, .n = 1, .queue = {h->cmd.queue}, .marker = marker};
    gs_home_wrote(h, m, gs_window_range(m, h->cmd.op.to[0], h->cmd.op.region[0]));
    return gs_write_staged(h, &w, own);
}

/* A blocking write by the driver's own way, which is faster than a non-blocking one and a wait. Where the bytes lie is
 * said twice, as above. */
static cl_int write_blocking(struct gs_home *h, struct gs_mem *m)
{
    struct gs_context *ctx = h->cmd.ctx;
    const struct gs_op *op = &h->cmd.op;
    const struct gs_range r = gs_window_range(m, op->to[0], op->region[0]);
    gs_home_wrote(h, m, r);
    m->root->host_writes++;
    pthread_mutex_unlock(&ctx->lock);
    const cl_int err = gs_enqueue(op, h->cmd.queue, h->n, h->n ? h->v : NULL, h->cmd.event);
    pthread_mutex_lock(&ctx->lock);
    m->root->host_writes--;
    if (!err)
        gs_home_wrote(h, m, r);
    return gs_home_end(h, err);
}

/* Which way a write goes. HERE: behind the marker if there is one; else the ring has been entered. */
static enum gs_staging_way write_way(struct gs_home *h, struct gs_mem *m, bool blocking, const void *ptr, size_t size,
                                     cl_event *marker)
{
    struct gs_queue *q = h->cmd.q;
    if (!gs_may_write(m) || !gs_list_is_sound(h->n, h->v))
        return GS_NOT_STAGED;
    const enum gs_staging_way way = gs_staging_way(q, ptr, size, blocking || gs_home_may_carry(h));
    if (way != GS_STAGED_HERE)
        return way;
    if (blocking)
        return gs_mark_before(h, marker) == CL_SUCCESS ? way : GS_NOT_STAGED;
    if (gs_staging_flows(q, size) && gs_staging_enter(q->o.ctx, false))
        return way;
    /* Where another thread has the ring, the other one; or the driver's own way. */
    return gs_staging_way(q, ptr, size, false);
}

static bool write_beside(struct gs_home *h, struct gs_mem *m, cl_event *own)
{
    const struct gs_staged run = whole_write(&h->cmd.op);
    const struct gs_beside b = {h->cmd.q, m, CL_COMMAND_WRITE_BUFFER, h->cmd.op.blocking, &run, 1, h->n, h->v};
    return gs_carry_beside(&b, own) == CL_SUCCESS;
}

/* Writes that nothing is to be noted of, as long as no launch is split: *err is what the driver says. False: one has
 * been. */
static bool pass_write(const struct gs_command *cmd, struct gs_mem *m, cl_int *err)
{
    struct gs_context *ctx = m->o.ctx;
    if (atomic_load(&ctx->divided))
        return false;
    pthread_mutex_lock(&ctx->lock);
    const bool passes = !atomic_load(&ctx->divided);
    if (passes)
        *err = gs_command_pass(cmd);
    pthread_mutex_unlock(&ctx->lock);
    return passes;
}

/* A split doesn't wait for a call that blocks; if one begins meanwhile the write is noted after all. */
static bool pass_blocking_write(const struct gs_command *cmd, struct gs_mem *m, cl_int *err)
{
    struct gs_context *ctx = m->o.ctx;
    atomic_fetch_add(&m->root->host_writes, 1); /* before it looks, as who divides looks at this after */
    const bool passes = !atomic_load(&ctx->divided);
    if (passes)
        *err = gs_command_pass(cmd);
    if (passes && !*err && atomic_load(&ctx->divided)) {
        pthread_mutex_lock(&ctx->lock);
        gs_note_write(m->root, 0, gs_window_range(m, cmd->op.to[0], cmd->op.region[0]));
        pthread_mutex_unlock(&ctx->lock);
    }
    atomic_fetch_sub(&m->root->host_writes, 1);
    return passes;
}

/* A few bytes by an application that is connected alone: the driver takes them in the call, and for so long the unit of
 * the link is had. They are on their way for no longer than it takes to ask for one. False: they aren't to be written
 * so. */
static bool write_at_once(const struct gs_command *cmd, struct gs_mem *m, cl_int *err)
{
    struct gs_queue *q = cmd->q;
    const size_t size = cmd->op.region[0];
    struct gs_job job;
    struct gs_unit u = {0};
    if (gs_fast_path_cares(~(unsigned)GS_CARE_DAEMON) || !gs_is_plain(m, cmd->op.to[0], size) || !gs_unit_is_sole())
        return false;
    gs_job_enter_quickly(cmd->ctx, &job);
    pthread_mutex_lock(&cmd->ctx->lock);
    const bool may_go = (!job.transfer_chunk || size <= job.transfer_chunk) && !atomic_load(&cmd->ctx->divided);
    const bool by_unit = may_go && gs_unit_try(&u, GS_RESOURCE_PCI, GS_LENGTH_UNKNOWN);
    if (by_unit) {
        *err = gs_command_pass(cmd);
        gs_timeline_enqueue(q->timeline); /* no unit tells of it */
        gs_unit_to(&u, GS_UNIT_SUBMITTED);
    }
    pthread_mutex_unlock(&cmd->ctx->lock);
    if (by_unit)
        gs_unit_over(&u);
    gs_job_tell();
    return by_unit;
}

/* By the way that fits, once the bytes that the write replaces need not come home. *done: the call is over. */
static cl_int write_home(struct gs_home *h, struct gs_mem *m, cl_event *own, bool *done)
{
    const struct gs_command *cmd = &h->cmd;
    const bool well_formed = cmd->op.ptr && gs_may_write(m) && gs_list_is_sound(cmd->n_wait, cmd->wait);
    struct gs_op once = cmd->op;
    cl_event marker = NULL;
    cl_int err = gs_home_ready(h);
    if (err)
        return err;
    const enum gs_staging_way way = write_way(h, m, once.blocking, once.ptr, once.region[0], &marker);
    if (way == GS_STAGED_HERE)
        return write_staged(h, m, marker, own);
    if (way == GS_STAGED_BESIDE && write_beside(h, m, own))
        return CL_SUCCESS;
    *done = !h->by_units && once.blocking && well_formed;
    if (*done)
        return write_blocking(h, m);
    const bool wanted = cmd->event || once.blocking;
    once.blocking = CL_FALSE;
    return gs_home_run(h, cmd->queue, &once, CL_COMMAND_WRITE_BUFFER, wanted ? own : NULL);
}

static GS_COLD cl_int write_carefully(struct gs_command *cmd)
{
    const struct gs_op *op = &cmd->op;
    const size_t offset = op->to[0], size = op->region[0];
    cl_int err;
    gs_fast_path_look();
    GS_CALL("clEnqueueWriteBuffer");
    struct gs_mem *m = gs_command_begin(cmd, false) ? gs_find(GS_MEM, op->dst) : NULL;
    gs_report_moved(GS_PATH_APP_WRITE, size);
    if (!m || !gs_inside(m, offset, size))
        return gs_command_pass(cmd);
    if (gs_is_small(m, size) && (op->blocking ? pass_blocking_write : pass_write)(cmd, m, &err))
        return err;
    if (!op->blocking && write_at_once(cmd, m, &err))
        return err;
    struct gs_home h;
    cl_event own = NULL;
    bool done = false;
    const bool alone = gs_home_await_before(cmd);
    gs_home_begin(&h, cmd, false);
    h.alone = alone;
    if (gs_write_elsewhere(&h, m, &own))
        return gs_home_wait(cmd, gs_home_end(&h, CL_SUCCESS), own);
    gs_home_claim(&h, m);
    err = write_home(&h, m, &own, &done);
    if (done)
        return err;
    if (!err)
        gs_home_wrote(&h, m, gs_window_range(m, offset, size));
    return gs_home_end_and_wait(&h, err, own);
}

GS_FAST_PATH CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                  cl_bool blocking_write, size_t offset, size_t size,
                                                                  const void *ptr, cl_uint num_events_in_wait_list,
                                                                  const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_WRITE, .blocking = blocking_write, .dst = buffer, .to = {offset},
                                       .region = {size, 1, 1}, .ptr = (void *)(uintptr_t)ptr);
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    struct gs_mem *m = gs_fast_path_may(t) ? gs_find_newest(GS_MEM, buffer) : NULL;
    cl_int err;
    if (!m || !gs_is_plain(m, offset, size))
        return write_carefully(&cmd);
    if (blocking_write) {
        gs_fast_path_count(t, GS_FAST_PATH_BLOCKS);
        if (pass_blocking_write(&cmd, m, &err))
            return err;
    } else if (gs_fast_path_begin(t)) {
        err = gs_command_pass(&cmd);
        gs_fast_path_end(t);
        return err;
    }
    return write_carefully(&cmd);
}
