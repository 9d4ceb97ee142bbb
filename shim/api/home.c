/* SPDX-License-Identifier: MIT */
/* The context is locked from gs_home_begin to gs_home_end, but while a call carries or calls the driver. */
#include "shim/api/home.h"
#include "common/lock/rank.h"
#include "shim/order/completion.h"

/* Can we wait for the wait list? Not for events that the driver would refuse. */
static bool may_await_list(const struct gs_command *cmd)
{
    bool may = true;
    for (cl_uint i = 0; cmd->wait && i < cmd->n_wait && may; i++)
        may = cmd->wait[i] && gs_event_context(cmd->wait[i]) == cmd->ctx->o.handle;
    return may;
}

/* A blocking call of a scheduled application waits for the queue's earlier commands first: then its command may find a
 * unit at once, and needs no gate. True: all earlier commands have ended. False: they may wait for the application. */
static bool await_before(const struct gs_command *cmd)
{
    if (!cmd->op.blocking || cmd->q->out_of_order || !gs_scheduled() || atomic_load(&cmd->ctx->user_events) ||
        !may_await_list(cmd) || !gs_queue_await(cmd->q, false))
        return false;
    if (cmd->n_wait && cmd->wait)
        gs_real()->clWaitForEvents(cmd->n_wait, cmd->wait);
    return true;
}

/* Hands the command on if none of the context's bytes have ever been elsewhere than at home. False: some have. With one
 * device nothing is noted that the lock protects. */
static bool pass_at_home(const struct gs_command *cmd, struct gs_side *side, cl_int *err)
{
    struct gs_context *ctx = cmd->ctx;
    if (ctx->n == 1 && cmd->op.blocking) {
        gs_queue_enter(cmd->q);
        *err = gs_command_pass(cmd);
        return true;
    }
    gs_queue_lock(cmd->q);
    const bool stays = !atomic_load(&ctx->spread), unlocked = stays && cmd->op.blocking;
    if (unlocked)
        *err = gs_call_unlocked(cmd, side, cmd->n_wait, cmd->wait);
    else if (stays)
        *err = gs_command_pass(cmd);
    if (stays && side->writes && !*err && atomic_load(&ctx->spread)) /* while the lock was free */
        gs_note_write_again(side->m->root, side->range);
    gs_mem_unlock(ctx, unlocked ? side->m : NULL);
    return stays;
}

bool gs_try_pass(const struct gs_command *cmd, struct gs_side side, unsigned facts, cl_int *err)
{
    side.writes = facts & GS_FACT_WRITES;
    return gs_host_way(facts) == GS_AS_IT_IS && pass_at_home(cmd, &side, err);
}

void gs_home_begin(struct gs_home *h, const struct gs_command *cmd, bool reads)
{
    struct gs_queue *q = cmd->q;
    *h = (struct gs_home){.n = cmd->n_wait, .v = cmd->wait, .at_once = await_before(cmd)};
    h->cmd = *cmd;
    if (gs_scheduled())
        h->cmd.units = gs_job_enter(q->o.ctx, reads, &h->job);
    gs_queue_lock(q);
    h->put_before = gs_set_unit_owner(&h->cmd);
}

void gs_home_need(struct gs_home *h, struct gs_mem *m, struct gs_range of_root)
{
    if (!h->err && m)
        h->err = gs_require_home(&h->cmd, m->root, of_root, &h->extra);
}

cl_int gs_home_ready(struct gs_home *h)
{
    if (h->err || !h->extra.n)
        return h->err;
    h->err = gs_command_list(&h->cmd);
    for (cl_uint i = 0; i < h->cmd.n_wait && !h->err; i++)
        h->err = gs_events_share(&h->extra, h->cmd.wait[i]);
    gs_real()->clFlush(h->cmd.q->o.handle);
    gs_command_flush(h->cmd.q);
    h->n = h->extra.n;
    h->v = h->extra.v;
    return h->err;
}

bool gs_home_may_carry(const struct gs_home *h)
{
    return !h->n && !gs_in_callback() && (!h->cmd.units || gs_unit_is_alone(GS_RESOURCE_PCI));
}

/* Images of sub-devices go by a queue of their parent's, which has no order with the application's but by events. */
static cl_command_queue image_queue(struct gs_home *h)
{
    struct gs_queue *q = h->cmd.q;
    if (!gs_group()->parent)
        return q->o.handle;
    cl_command_queue queue = gs_queue_of_kind(q, GS_IMAGE_QUEUE, 0, &h->err);
    if (!h->err)
        h->err = gs_command_order(&h->cmd);
    if (!h->err)
        h->err = gs_events_share_all(&h->extra, &h->cmd.before);
    if (!h->err && !gs_list_is_valid(h->cmd.n_wait, h->cmd.wait))
        h->err = gs_events_share(&h->extra, NULL);
    gs_real()->clFlush(q->o.handle);
    h->n = h->extra.n;
    h->v = h->extra.v;
    return queue;
}

/* Few bytes are read by a call that blocks, with the context's lock held: where a read has an event a thread of
 * NVIDIA's driver brings the bytes to pageable memory, and wakes up late (an H200: a job of 2.3 ms took 60 us less by a
 * call that blocks for 4 bytes, and 23 us for 256 KiB). Not where an application's callback might want that lock. */
static bool may_block(const struct gs_op *op)
{
    enum { FEW_BYTES = 256 * 1024 };
    return op->kind == GS_OP_READ && op->region[0] <= FEW_BYTES && (gs_group()->type & CL_DEVICE_TYPE_GPU) &&
           !gs_callbacks_used();
}

/* Image fills go without a unit: NVIDIA's driver waits within clEnqueueFillImage for the commands before; behind a
 * gate, which opens after the call, it would wait for ever. */
static cl_int fill_image(struct gs_home *h, cl_command_queue queue, const struct gs_op *op, cl_event *own)
{
    cl_event event;
    gs_queue_close(queue);
    const cl_int err = gs_enqueue(op, queue, h->n, h->v, &event);
    if (err)
        return err;
    gs_timeline_enqueue_untracked(h->cmd.q->timeline);
    gs_job_add(event);
    gs_event_give(event, own);
    return CL_SUCCESS;
}

static cl_int enqueue(struct gs_home *h, const struct gs_units *to, const struct gs_op_run *run, cl_event *own)
{
    if (!h->cmd.units ||
        !gs_list_is_valid(h->n, h->v)) /* the driver knows what is wrong with a call that we can't serve */
        return gs_enqueue(&run->op, to->queue, h->n, h->v, own);
    if (run->op.kind == GS_OP_FILL_IMAGE && !gs_group()->pocl)
        return fill_image(h, to->queue, &run->op, own);
    if (!h->at_once || !own || run->cut.n > 1 || h->extra.n || !gs_queue_is_idle(h->cmd.q) ||
        !gs_unit_try(&h->unit, to->resource, GS_LENGTH_UNKNOWN))
        return gs_run_op(to, run, own);
    struct gs_op once = run->op;
    once.blocking = may_block(&once);
    gs_unit_on(&h->unit, GS_UNIT_SUBMIT);
    GS_MAY_WAIT("few bytes of an idle queue", 10 * GS_MS);
    /* An event, and the wait for it, would take NVIDIA's driver 5 us more. */
    return gs_enqueue(&once, to->queue, h->n, h->v, once.blocking && !h->cmd.event ? NULL : own);
}

cl_int gs_home_run(struct gs_home *h, const struct gs_op *op, cl_event *own)
{
    const bool maps = op->kind >= GS_OP_MAP_BUFFER && op->kind <= GS_OP_UNMAP;
    struct gs_op_run run = {.op = *op};
    cl_event end;
    cl_command_queue queue = gs_op_is_of_image(op) ? image_queue(h) : h->cmd.queue;
    if (h->err)
        return h->err;
    const unsigned resource = maps || gs_op_crosses_host(op) ? GS_RESOURCE_PCI : gs_resource_of(0);
    const struct gs_units to = {.q = h->cmd.q, .queue = queue, .resource = resource, .n_wait = h->n, .wait = h->v};
    gs_op_cut(op, h->cmd.units && !maps ? gs_put_chunk(&h->cmd, op) : 0, &run.cut);
    if (run.cut.n == 1 && queue == h->cmd.queue)
        return enqueue(h, &to, &run, own);
    /* The application's queue keeps its order: later commands there come after all pieces. */
    const cl_int err = enqueue(h, &to, &run, &end);
    if (err)
        return err;
    if (queue != h->cmd.queue) {
        gs_real()->clFlush(queue);
        gs_compound_add(h->cmd.q, end, &h->extra); /* somebody must hold what it waits for (PoCL, docs/drivers.md) */
    }
    return gs_finish_single(&h->cmd, end, 0, own);
}

cl_int gs_home_mark(struct gs_home *h, cl_event *own)
{
    struct gs_queue *q = h->cmd.q;
    const cl_int err = gs_mark_out_of_order(q, q->o.handle, h->n, h->v, own); /* it waits for no other command */
    gs_timeline_enqueue_untracked(q->timeline);
    if (err)
        return err;
    if (h->cmd.units)
        gs_job_add(*own);
    gs_real()->clFlush(q->o.handle);
    struct gs_event *e = calloc(1, sizeof *e);
    if (e) {
        e->command = gs_op_command_type(&h->cmd.op);
        gs_insert(&e->o, GS_EVENT, *own, q->o.ctx);
    }
    return CL_SUCCESS;
}

void gs_home_wrote(struct gs_home *h, struct gs_mem *m, struct gs_range of_root)
{
    if (!h->err && m)
        gs_note_write(m->root, 0, of_root);
}

cl_int gs_home_end(struct gs_home *h, cl_int err)
{
    gs_set_unit_owner(h->put_before);
    h->upto = gs_timeline_newest(h->cmd.q->timeline);
    gs_mem_unlock(h->cmd.ctx, h->used);
    gs_events_free(&h->extra);
    gs_events_free(&h->ready);
    gs_command_end(&h->cmd);
    return err ? err : h->err;
}

struct gs_range gs_rect_range(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    if (!origin || !region || !region[0] || !region[1] || !region[2])
        return (struct gs_range){0, 0};
    const uint64_t row = row_pitch ? row_pitch : region[0], slice = slice_pitch ? slice_pitch : row * region[1];
    const uint64_t begin = origin[2] * slice + origin[1] * row + origin[0];
    return (struct gs_range){begin, begin + (region[2] - 1) * slice + (region[1] - 1) * row + region[0]};
}

cl_int gs_home_wait(const struct gs_command *cmd, cl_int err, cl_event own)
{
    if (err)
        return err;
    if (cmd->op.blocking) {
        err = own ? gs_real()->clWaitForEvents(1, &own) : CL_SUCCESS;
        if (err)
            gs_await_parts(own);
        /* NVIDIA's driver finds some mistakes only while the command runs; of a blocking call it would return the
         * error. Not looked at if the wait list may have failed: PoCL's status of the command differs then. */
        if (err == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && gs_event_status(own) < 0 &&
            !atomic_load(&cmd->ctx->user_event_failed))
            err = gs_event_status(own);
        gs_wait_ended();
    }
    if (cmd->event && !err)
        *cmd->event = own;
    else if (own)
        clReleaseEvent(own);
    return err;
}

cl_int gs_home_end_and_wait(struct gs_home *h, cl_int err, cl_event own)
{
    err = gs_home_wait(&h->cmd, gs_home_end(h, err), own);
    if (gs_unit_is(&h->unit, GS_UNIT_SUBMITTED))
        gs_unit_over(&h->unit);
    if (!err && h->cmd.op.blocking && h->cmd.units && !h->cmd.q->out_of_order && !h->cmd.marker)
        gs_queue_drained(h->cmd.q, h->upto, true);
    return err;
}

static bool is_read(const struct gs_op *op)
{
    return gs_op_crosses_host(op) && op->src;
}

bool gs_home_is_valid(const struct gs_home *h)
{
    return h->cmd.op.ptr && gs_list_is_valid(h->n, h->v);
}

bool gs_home_is_in_use(struct gs_home *h)
{
    struct gs_side *src = &h->src, *dst = &h->dst;
    return (src->m && gs_is_host_writing(src->m->root, &GS_ONE_RANGE(src->range))) ||
           (dst->m && gs_is_host_using(dst->m->root, &GS_ONE_RANGE(dst->range)));
}

static unsigned find_facts(struct gs_home *h)
{
    const struct gs_op *op = &h->cmd.op;
    const struct gs_op_run *t = h->runs;
    const struct gs_mem *dst = h->dst.m;
    const bool reads = is_read(op), sound = reads ? gs_list_is_valid(h->n, h->v) : dst && gs_home_is_valid(h);
    unsigned facts = GS_FACT_FOUND | (reads ? 0 : GS_FACT_WRITES) | (h->cmd.units ? GS_FACT_UNITS : 0);
    if (op->blocking && (reads || sound))
        facts |= GS_FACT_BLOCKS;
    /* bytes for a read may still be on their way home, and an image's queue may not be the application's */
    if ((reads && h->extra.n) || (gs_op_is_of_image(op) && gs_group()->parent) ||
        (dst && gs_home_is_invalid(dst->root, h->dst.range)))
        facts |= GS_FACT_AWAY;
    if (!t || !sound || h->vain || gs_home_is_in_use(h))
        return facts;
    const bool ring = (op->blocking || gs_home_may_carry(h)) &&
                      gs_staging_may_carry(h->cmd.ctx, gs_staged_host(t).at, gs_staged_bytes(t)) && gs_ring_takes(h);
    return facts | (ring ? GS_FACT_RING : 0);
}

static cl_int by_queue(struct gs_home *h, cl_event *own)
{
    struct gs_op once = h->cmd.op;
    once.blocking = CL_FALSE;
    return gs_home_run(h, &once, h->cmd.op.blocking || h->cmd.event ? own : NULL);
}

/* A sole application reads few bytes without a unit, as nobody waits for the link: else the copy would be set up only
 * once the launch before it has ended. Not where the driver hasn't got all that comes before. */
static bool needs_no_unit(const struct gs_command *cmd)
{
    enum { FEW_BYTES = 4096 };
    return cmd->op.region[0] <= FEW_BYTES && !cmd->n_wait && !cmd->q->out_of_order && gs_app_is_sole() &&
           !atomic_load(&cmd->ctx->user_events) && !atomic_load(&cmd->ctx->spread) && gs_queue_is_submitted(cmd->q);
}

bool gs_try_pass_read(const struct gs_command *cmd, struct gs_side src, cl_int *err)
{
    struct gs_job job;
    unsigned facts = gs_home_facts(NULL, cmd->op.blocking && gs_transfer_is_direct(src.range.end - src.range.begin));
    if (facts == (GS_FACT_DIRECT | GS_FACT_UNITS) && needs_no_unit(cmd))
        facts |= GS_FACT_SOLE;
    if (gs_host_way(facts) != GS_AT_ONCE)
        return gs_try_pass(cmd, src, facts, err);
    gs_job_enter(cmd->ctx, true, &job);
    const unsigned upto = gs_timeline_newest(cmd->q->timeline);
    if (!pass_at_home(cmd, &src, err))
        return false;
    gs_job_reads();
    if (!*err)
        gs_queue_drained(cmd->q, upto, true);
    gs_wait_ended();
    return true;
}

/* Where the bytes lie that a write changes is said twice: before, so that nobody brings older ones home; and after, so
 * that what other places got from home meanwhile doesn't count; gaps don't go there (rule 16b of coherence.md). */
cl_int gs_home_by_call(struct gs_home *h)
{
    struct gs_side *side = gs_home_side(h);
    gs_home_wrote(h, h->dst.m, h->dst.range);
    h->used = side->m;
    side->writes = h->dst.m;
    const cl_int err = gs_call_unlocked(&h->cmd, side, h->n, h->v);
    if (!err && side->writes)
        gs_note_write_again(side->m->root, side->range);
    return gs_home_end(h, err);
}

cl_int gs_home_by_way(struct gs_home *h, struct gs_op_run *staged)
{
    const struct gs_side *dst = &h->dst;
    cl_event own = NULL;
    h->runs = staged;
    h->n_runs = 1;
    gs_events_free(&h->ready); /* of a way that couldn't be had */
    gs_home_need(h, h->src.m, h->src.range);
    gs_home_need(h, dst->m, dst->covers ? (struct gs_range){0, 0} : dst->range);
    cl_int err = gs_home_ready(h);
    const enum gs_host_way way = gs_host_way(err ? GS_FACT_FOUND : find_facts(h));
    if (!err && way == GS_BY_CALL)
        return gs_home_by_call(h);
    if (!err && way == GS_BY_RING) {
        gs_home_wrote(h, dst->m, dst->range);
        err = gs_carry_by_ring(h, &own);
    } else if (!err && way == GS_BY_QUEUE) {
        err = by_queue(h, &own);
    }
    if (is_read(&h->cmd.op) && h->cmd.units)
        gs_job_reads();
    if (!err && dst->m && way == GS_BY_RING && !h->cmd.marker) /* the lock was free meanwhile */
        gs_note_write_again(dst->m->root, dst->range);
    else if (!err && way != GS_BY_RING)
        gs_home_wrote(h, dst->m, dst->range);
    return gs_home_end_and_wait(h, err, own);
}

cl_int gs_home_transfer(const struct gs_command *cmd, struct gs_side src, struct gs_side dst, struct gs_op_run *staged)
{
    struct gs_home h;
    cl_int err;
    const unsigned facts = gs_home_facts(dst.m, !staged && !gs_op_is_of_image(&cmd->op));
    if (gs_try_pass(cmd, dst.m ? dst : src, facts, &err))
        return err;
    gs_home_begin(&h, cmd, !dst.m);
    h.src = src;
    h.dst = dst;
    return gs_home_by_way(&h, staged);
}
