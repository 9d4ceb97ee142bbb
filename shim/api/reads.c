/* SPDX-License-Identifier: MIT */
/* Reads into the host's memory from wherever the bytes are valid. Within gs_read_from_places the context is locked from
 * gs_home_begin to gs_home_end, but for read_by_ring and read_by_calls while bytes move. */
#include "shim/api/home.h"

#include "shim/order/completion.h"

struct reading {
    struct gs_home h;
    const struct gs_op_run *all; /* the transfer if all bytes were at home */
    struct gs_extents s;         /* its extents */
    cl_command_queue queue[GS_MAX_DEVICES];
};

/* May each extent be read by a blocking call? Such calls use the copy queues alone: another thread's commands come
 * after the call, and further pieces would come after those. Sub-devices' images share a queue. */
static bool may_call_each(const struct reading *x)
{
    enum { FEW = 8 }; /* more of them are faster enqueued at once */
    const struct gs_command *cmd = &x->h.cmd;
    return !(gs_op_is_of_image(&x->all->op) && gs_group()->parent) && !atomic_load(&cmd->ctx->user_events) &&
           gs_count_holders(x->h.src.m->root, x->h.src.range, FEW + 1) <= FEW;
}

static unsigned read_facts(const struct reading *x)
{
    const struct gs_command *cmd = &x->h.cmd;
    const bool blocks = cmd->op.blocking, by_units = x->h.cmd.units;
    unsigned facts = GS_FACT_FOUND | (blocks ? GS_FACT_BLOCKS : 0) | (by_units ? GS_FACT_UNITS : 0);
    const bool here = blocks || (!gs_in_callback() && (!by_units || gs_unit_is_alone(GS_RESOURCE_PCI)));
    if (here && gs_staging_may_carry(cmd->ctx, x->all->op.ptr, gs_staged_bytes(x->all)))
        facts |= GS_FACT_RING;
    if (gs_at_home(x->h.src.m->root, x->h.src.range))
        return facts;
    return facts | GS_FACT_AWAY | (may_call_each(x) ? GS_FACT_FEW : 0);
}

/* Where the bytes lie, and the queue of each place that holds some. */
static cl_int find_places(struct reading *x)
{
    struct gs_command *cmd = &x->h.cmd;
    cl_int err = gs_host_places(cmd, x->h.src.m->root, x->h.src.range, x->all, &x->s, &x->h.ready);
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_op_run *t = &x->s.v[i];
        const enum gs_queue_kind kind = gs_op_is_of_image(&t->op) ? GS_IMAGE_QUEUE : GS_COPY_QUEUE;
        x->queue[t->place] = gs_queue_of_kind(cmd->q, kind, t->place, &err);
    }
    x->h.runs = x->s.v;
    x->h.n_runs = x->s.n;
    return err;
}

/* Reads each extent by a non-blocking command. */
static cl_int read_by_queue(struct reading *x, cl_event *own)
{
    struct gs_command *cmd = &x->h.cmd;
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_op_run *t = &x->s.v[i];
        cl_event event;
        err = gs_put(x->queue[t->place], &t->op, GS_VIA_HOST, x->h.ready.n, x->h.ready.v, &event);
        gs_command_ends_at(cmd, t->place);
        if (!err)
            err = gs_events_add(&cmd->ended, event);
    }
    if (!err)
        err = gs_finish_command(cmd, cmd->event || cmd->op.blocking ? own : NULL);
    if (err) {
        gs_command_flush(cmd->q);
        pthread_mutex_unlock(&cmd->ctx->lock);
        gs_events_wait(&cmd->ended); /* the application may free the memory now: nothing may still be written there */
        pthread_mutex_lock(&cmd->ctx->lock);
    }
    return err;
}

static cl_int read_by_calls(struct reading *x, cl_event *own)
{
    struct gs_queue *q = x->h.cmd.q;
    struct gs_events *ready = &x->h.ready;
    cl_int err = CL_SUCCESS;
    gs_home_carry_begin(&x->h);
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_op_run *t = &x->s.v[i];
        cl_event event;
        struct gs_op op = t->op;
        op.blocking = CL_TRUE;
        err = gs_enqueue(&op, x->queue[t->place], ready->n, ready->n ? ready->v : NULL, &event);
        if (!err)
            err = gs_staged_note(&x->h.cmd, t->place, event);
    }
    err = gs_home_carry_end(&x->h, err, own);
    gs_copy_queues_call(q, false);
    return err;
}

/* May a call that needn't block carry it? Not if what comes before takes longer, or has failed. */
static bool is_ready(struct reading *x)
{
    struct gs_events *ready = &x->h.ready;
    const bool ended = gs_staging_is_ready(ready, gs_staged_bytes(x->all));
    gs_events_drop_complete(ready, false);
    return ended && !ready->n && gs_staging_enter(x->h.cmd.ctx, false);
}

static cl_int read_by_ring(struct reading *x, cl_event *own)
{
    struct gs_traffic *traffic = gs_traffic(x->h.src.m->root);
    /* Memory that the last such read filled is in use already: then the time tells of the link. */
    x->h.times_link = traffic->taken_to == x->all->op.ptr && !x->h.src.m->root->image;
    traffic->taken += gs_staged_bytes(x->all);
    traffic->taken_to = x->all->op.ptr;
    return gs_carry_by_ring(&x->h, own);
}

/* Reads from several places. Gives the context's lock back while waiting; the bytes stay in place until they are read.
 * If the call blocks, waits for the event as well as for the bytes: the event is complete when the call returns. */
static cl_int read_places(struct reading *x, enum gs_host_way way)
{
    struct gs_command *cmd = &x->h.cmd;
    cl_event own = NULL;
    if (way == GS_BY_CALLS && !gs_copy_queues_call(cmd->q, true))
        way = GS_BY_QUEUE;
    if (way != GS_BY_QUEUE)
        gs_real()->clFlush(cmd->q->o.handle);
    cl_event *const wanted = cmd->event || way == GS_BY_QUEUE ? &own : NULL;
    cl_int err = (way == GS_BY_QUEUE ? read_by_queue : way == GS_BY_RING ? read_by_ring : read_by_calls)(x, wanted);
    if (x->h.cmd.units && !err)
        gs_job_reads();
    if (way == GS_BY_QUEUE)
        return gs_home_end_and_wait(&x->h, err, own);
    err = gs_home_wait(cmd, gs_home_end(&x->h, err), own);
    if (!cmd->op.blocking) /* the ring has carried it */
        gs_wait_ended();
    return err;
}

cl_int gs_read_from_places(const struct gs_command *cmd, struct gs_side src, const struct gs_op_run *t)
{
    struct reading x; /* clearing the arrays would take as long as looking up the objects */
    cl_int err = CL_SUCCESS;
    x.all = t;
    x.s = (struct gs_extents){0};
    gs_home_begin(&x.h, cmd, true);
    x.h.src = src;
    const bool ordered = gs_home_is_in_use(&x.h); /* by the application's queue alone */
    unsigned facts = ordered ? GS_FACT_FOUND : read_facts(&x);
    if (facts & (GS_FACT_AWAY | GS_FACT_RING))
        err = find_places(&x);
    if (facts & GS_FACT_RING && !cmd->op.blocking && !err && !is_ready(&x))
        facts &= ~(unsigned)GS_FACT_RING;
    const enum gs_host_way way = gs_host_way(facts);
    if (err)
        err = gs_home_end(&x.h, err);
    else if (facts & (GS_FACT_AWAY | GS_FACT_RING))
        err = read_places(&x, way);
    else if (way == GS_BY_CALL && !ordered && !gs_op_is_of_image(&t->op))
        err = gs_home_by_call(&x.h);
    else
        err = gs_home_by_way(&x.h, NULL);
    gs_extents_free(&x.s);
    return err;
}
