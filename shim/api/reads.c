/* SPDX-License-Identifier: MIT */
/* Reads into the host's memory from wherever the bytes are valid. */
#include "shim/api/transfer.h"

#include "shim/choose/timing.h"
#include "shim/staging/staging.h"
#include "common/clock.h"
#include "shim/report/watch.h"
#include "shim/order/callbacks.h"
#include "shim/put/finish.h"

struct reading {
    struct gs_carry carried; /* first */
    struct gs_command *cmd;
    struct gs_mem *m;
    struct gs_range r;
    const struct gs_staged *all; /* the transfer if all bytes were at home */
    struct gs_extents s;         /* its stretches */
    struct gs_events ready;      /* what they must come after */
    cl_command_queue queue[GS_MAX_DEVICES];
    struct gs_staged_ends ended;
    struct gs_host_use read; /* while the context's lock is free */
    bool late;               /* a call that needn't block would have to wait for the ring: nothing is enqueued */
    bool disturbed;          /* another call writes some of it so: only the application's queue has an order then */
};

static unsigned find_facts(const struct reading *x, bool ring)
{
    enum { FEW = 8 }; /* more of them are faster enqueued at once */
    const struct gs_command *cmd = x->cmd;
    const bool blocks = cmd->op.blocking, by_units = gs_scheduled();
    unsigned facts = (blocks ? GS_FACT_BLOCKS : 0) | (by_units ? GS_FACT_UNITS : 0);
    if (x->disturbed)
        return facts;
    const bool here = blocks || (!gs_in_callback() && (!by_units || gs_unit_is_alone(GS_RESOURCE_PCI)));
    if (ring && here && gs_staging_may_carry(cmd->ctx, x->all->op.ptr, gs_staged_bytes(x->all)))
        return facts | GS_FACT_RING;
    if (gs_at_home(x->m->root, x->r))
        return facts;
    if (!atomic_load(&cmd->ctx->user_events) && gs_count_holders(x->m->root, x->r, FEW + 1) <= FEW)
        facts |= GS_FACT_FEW;
    return facts | GS_FACT_AWAY;
}

/* Will the driver get the command as the application made it? */
static bool is_passed(const struct reading *x, enum gs_host_way way)
{
    return way == GS_BY_CALL && !x->disturbed && !gs_op_is_of_image(&x->all->op);
}

static void look_around(struct reading *x)
{
    x->disturbed = gs_is_host_writing(x->m->root, &GS_ONE_RANGE(x->r));
}

/* From here on such a read counts as begun. */
static enum gs_host_way find_way(struct reading *x, bool ring, unsigned *facts)
{
    gs_queue_lock(x->cmd->q);
    look_around(x);
    *facts = find_facts(x, ring);
    const enum gs_host_way way = gs_host_way(*facts);
    if (is_passed(x, way))
        gs_host_use_begin(&x->m->root->host_reads, x->r, &x->read);
    pthread_mutex_unlock(&x->cmd->ctx->lock);
    return way;
}

/* Where the bytes lie, and the queue of each place that holds some. */
static cl_int find_places(struct reading *x)
{
    cl_int err = gs_host_places(x->cmd, x->m->root, x->r, x->all, &x->s, &x->ready);
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_staged *t = &x->s.v[i];
        x->queue[t->place] = gs_op_is_of_image(&t->op) ? gs_queue_of_kind(x->cmd->q, GS_IMAGE_QUEUE, t->place, &err)
                                                       : gs_queue_of_kind(x->cmd->q, GS_COPY_QUEUE, t->place, &err);
    }
    return err;
}

static cl_int finish(struct reading *x, cl_event *event)
{
    return gs_finish_command(x->cmd->q, gs_op_command_type(&x->cmd->op), &x->ended.events, x->ended.place, event);
}

/* From the places that have been found. */
static cl_int by_queue(struct reading *x, cl_event *own)
{
    enum { MOST = sizeof x->ended.place / sizeof *x->ended.place };
    struct gs_events *events = &x->ended.events;
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_staged *t = &x->s.v[i];
        cl_event event;
        err = gs_put(x->queue[t->place], &t->op, GS_VIA_HOST, x->ready.n, x->ready.v, &event);
        if (!err && events->n < MOST)
            x->ended.place[events->n] = t->place;
        if (!err)
            err = gs_events_add(events, event);
    }
    if (!err)
        err = finish(x, own);
    if (!err)
        return CL_SUCCESS;
    gs_command_flush(x->cmd->q);
    pthread_mutex_unlock(&x->cmd->ctx->lock);
    gs_events_wait(events); /* the application may free the memory now: nothing may still be written there */
    pthread_mutex_lock(&x->cmd->ctx->lock);
    return err;
}

static cl_int call_each(struct reading *x)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < x->s.n && !err; i++) {
        const struct gs_staged *t = &x->s.v[i];
        cl_event event;
        struct gs_op op = t->op;
        op.blocking = CL_TRUE;
        err = gs_enqueue(&op, x->queue[t->place], x->ready.n, x->ready.n ? x->ready.v : NULL, &event);
        if (!err)
            err = gs_staged_note(&x->ended, t->place, event);
    }
    return err;
}

enum { SOON_NS = 20 * 1000 };

static bool on_several(const struct gs_extents *s)
{
    for (unsigned i = 1; i < s->n; i++)
        if (s->v[i].place != s->v[0].place)
            return true;
    return false;
}

static void end_use(struct gs_carry *c)
{
    struct reading *x = (struct reading *)c;
    gs_host_use_end(&x->m->root->host_reads, &x->read);
}

/* Calls of the driver have the queues of transfers for themselves: what another thread enqueues there meanwhile comes
 * after the call (shim/put/carry.h), and the call's next piece would come after that. Images of sub-devices have one
 * queue for all. */
static bool may_call_each(const struct reading *x)
{
    return !x->cmd->q->called && !(gs_op_is_of_image(&x->all->op) && x->cmd->ctx->parent);
}

/* From the places that have been found. Gives the context's lock back while it waits; the bytes stay where they are
 * until they have been read. */
static cl_int wait_for_all(struct reading *x, enum gs_host_way way)
{
    struct gs_context *ctx = x->cmd->ctx;
    struct gs_mem *root = x->m->root;
    const bool ring = way == GS_BY_RING, again = ring && root->traffic.taken_to == x->all->op.ptr;
    if (ring) {
        root->traffic.taken += gs_staged_bytes(x->all);
        root->traffic.taken_to = x->all->op.ptr;
    }
    if (!ring)
        x->cmd->q->called = true;
    x->carried = (struct gs_carry){.cmd = x->cmd, .marked = end_use};
    gs_carry_begin(&x->carried);
    gs_host_use_begin(&root->host_reads, x->r, &x->read);
    gs_real()->clFlush(x->cmd->q->o.handle);
    pthread_mutex_unlock(&ctx->lock);
    const struct gs_label before = gs_label_way(ring ? GS_WAY_STAGED : GS_WAY_DIRECT);
    /* Memory that the last such read filled is in use already: then the time tells of the link. */
    const bool telling = gs_events_ended_by(&x->ready, gs_now_ns() + SOON_NS) && again && !x->m->image;
    /* NVIDIA's driver takes 3 to 10 us more for a piece that waits for another queue's. */
    if (gs_events_drop_complete(&x->ready, false) && ring) {
        gs_events_wait(&x->ready);
        gs_events_drop_complete(&x->ready, false);
    }
    cl_int err = ring && x->ready.n ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
    if (ring)
        gs_staging_enter(ctx, true);
    const uint64_t begin_ns = gs_now_ns();
    if (!err)
        err = ring ? gs_staging_carry(ctx, x->s.v, x->s.n, x->cmd->q->profiling, true, &x->ended) : call_each(x);
    if (!err && telling)
        gs_timing_read(x->r.end - x->r.begin, gs_now_ns() - begin_ns, on_several(&x->s));
    gs_label_set(before);
    if (ring)
        gs_staging_leave(ctx);
    pthread_mutex_lock(&ctx->lock);
    if (!ring)
        x->cmd->q->called = false;
    if (!x->carried.end)
        end_use(&x->carried);
    return gs_carry_end(&x->carried, err, &x->ended.events, x->ended.place, x->cmd->event);
}

/* May a call that needn't block carry it? Not if what comes before takes longer, or has failed. */
static bool is_ready(struct reading *x)
{
    const bool ended = gs_staging_is_ready(&x->ready, gs_staged_bytes(x->all));
    gs_events_drop_complete(&x->ready, false);
    return ended && !x->ready.n;
}

/* From the places that hold the bytes. *own: the event of what hasn't been waited for. Does nothing where that is
 * disturbed by now. *way may become another. */
static cl_int read_places(struct reading *x, enum gs_host_way *way, cl_event *own, struct gs_queue_mark *upto)
{
    struct gs_command *cmd = x->cmd;
    struct gs_putting put = {.q = cmd->q};
    const bool by_units = gs_scheduled();
    if (by_units)
        gs_job_enter(cmd->ctx, true, &put.job);
    const struct gs_putting *before = gs_put_for(by_units ? &put : NULL);
    gs_queue_lock(cmd->q);
    look_around(x);
    if (*way == GS_BY_CALLS && !may_call_each(x))
        *way = GS_BY_QUEUE;
    cl_int err = x->disturbed ? CL_SUCCESS : find_places(x);
    x->late = !err && !x->disturbed && *way == GS_BY_RING && !cmd->op.blocking && !is_ready(x);
    if (!err && !x->disturbed && !x->late)
        err = *way == GS_BY_QUEUE ? by_queue(x, cmd->event || cmd->op.blocking ? own : NULL) : wait_for_all(x, *way);
    *upto = gs_queue_mark(cmd->q);
    pthread_mutex_unlock(&cmd->ctx->lock);
    gs_put_for(before);
    gs_extents_free(&x->s);
    gs_events_free(&x->ready);
    gs_events_free(&x->ended.events);
    gs_command_end(cmd);
    if (by_units && !err)
        gs_job_reads();
    return err;
}

/* By the driver, which reads all of it at home. */
static cl_int pass(struct reading *x)
{
    const struct gs_command *cmd = x->cmd;
    struct gs_mem *root = x->m->root;
    gs_hold(&root->o); /* another thread may let it go meanwhile */
    const cl_int err = gs_command_pass(cmd);
    pthread_mutex_lock(&cmd->ctx->lock);
    gs_host_use_end(&root->host_reads, &x->read);
    pthread_mutex_unlock(&cmd->ctx->lock);
    gs_drop(&root->o);
    return err;
}

cl_int gs_read(struct gs_command *cmd, struct gs_mem *m, struct gs_range r, const struct gs_staged *t)
{
    const struct gs_side from = {.m = m, .r = r};
    struct reading x = {.cmd = cmd, .m = m, .r = r, .all = t};
    struct gs_queue_mark upto;
    cl_event own = NULL;
    cl_int err;
    unsigned facts;
    enum gs_host_way way = find_way(&x, true, &facts);
    if (way == GS_BY_RING) {
        err = read_places(&x, &way, &own, &upto);
        if (err || !(x.late || x.disturbed)) {
            gs_wait_ended();
            return err;
        }
        if (x.late)
            way = find_way(&x, false, &facts);
    }
    if (is_passed(&x, way))
        return pass(&x);
    const bool at_places = facts & GS_FACT_AWAY && !x.disturbed;
    err = at_places ? read_places(&x, &way, &own, &upto) : CL_SUCCESS;
    if (!at_places || x.disturbed) /* by now */
        return gs_home_transfer(cmd, from, (struct gs_side){0}, NULL);
    if (way == GS_BY_CALLS) {
        gs_wait_ended();
        return err;
    }
    err = gs_home_wait(cmd, err, own);
    if (!err && cmd->op.blocking && facts & GS_FACT_UNITS && !cmd->q->out_of_order)
        gs_queue_drained(cmd->q, upto);
    return err;
}
