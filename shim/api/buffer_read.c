/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading buffers. */
#include "shim/api/buffer.h"

#include "common/lock/rank.h"
#include "shim/process/threads.h"
#include "shim/schedule/finish.h"
#include "shim/report/report.h"
#include "shim/choose/timing.h"
#include "shim/memory/host.h"
#include "shim/order/callbacks.h"
#include "shim/report/watch.h"

/* How a read goes. */
enum read_way { READ_AT_HOME, READ_STAGED, READ_BESIDE, READ_IN_TURN, READ_TOGETHER };

static enum read_way choose_read(struct gs_queue *q, struct gs_mem *m, struct gs_range r, void *ptr, bool blocking)
{
    /* So few stretches are faster one after the other: NVIDIA's non-blocking reads to pageable memory take up to twice
     * as long as blocking ones. */
    enum { FEW = 8 };
    GS_LOCKED(&q->o.ctx->lock);
    const enum gs_staging_way staged = gs_staging_way(q, ptr, r.end - r.begin, blocking);
    if (staged != GS_NOT_STAGED)
        return staged == GS_STAGED_HERE ? READ_STAGED : READ_BESIDE;
    if (gs_at_home(m->root, r))
        return READ_AT_HOME;
    const bool few = blocking && !atomic_load(&q->o.ctx->user_events) && gs_count_holders(m->root, r, FEW + 1) <= FEW;
    return few ? READ_IN_TURN : READ_TOGETHER;
}

/* Counts a read through the ring. Does it go where the last one went? Then that memory is in use already. */
static bool count_read(struct gs_mem *root, const struct gs_staged *all)
{
    const bool again = root->taken_to == all->host.at;
    root->taken += gs_staged_bytes(all);
    root->taken_to = all->host.at;
    return again;
}

/* What a read is made of. */
struct pieces {
    struct gs_extents s;
    struct gs_events ready; /* what they must come after */
    cl_command_queue queue[GS_MAX_DEVICES];
    bool again; /* through the ring, to where the last such read of the root went */
};

/* Where the bytes lie, and the queue of each place that holds some. They stay there until they have been read. */
static cl_int find_places(struct gs_command *cmd, struct gs_mem *m, struct gs_range r, bool staged, struct pieces *p)
{
    const struct gs_staged all = gs_staged_run(NULL, 0, false, r.begin, r.end - r.begin, cmd->op.ptr);
    GS_LOCKED(&cmd->ctx->lock);
    p->again = staged && count_read(m->root, &all);
    cl_int err = gs_host_places(cmd, m->root, r, &all, &p->s, &p->ready);
    m->root->host_reads++;
    for (unsigned i = 0; i < p->s.n && !err; i++)
        p->queue[p->s.v[i].place] = gs_host_queue(cmd->q, &p->s.v[i], &err);
    gs_real()->clFlush(cmd->q->o.handle);
    return err;
}

/* Blocks: NVIDIA's non-blocking reads to pageable memory take up to twice as long. */
static cl_int read_stretch(const struct gs_staged *t, cl_command_queue queue, const struct gs_events *ready,
                           cl_event *event)
{
    struct gs_op op = gs_op_read(t->mem, t->origin[0], t->region[0], t->host.at);
    op.blocking = CL_TRUE;
    return gs_enqueue(&op, queue, ready->n, ready->n ? ready->v : NULL, event);
}

/* One stretch after the other; by units each is one, which is asked for once it could run. */
static cl_int read_in_turn(const struct pieces *p, struct gs_staged_ends *ended)
{
    const bool by_units = gs_put_by_units();
    cl_int err = CL_SUCCESS;
    if (by_units && !gs_events_ended(&p->ready))
        gs_events_wait(&p->ready);
    for (unsigned i = 0; i < p->s.n && !err; i++) {
        const struct gs_staged *t = &p->s.v[i];
        struct gs_unit u = {0};
        cl_event event;
        if (by_units) {
            gs_unit_take(&u, GS_RESOURCE_PCI);
            gs_unit_to(&u, GS_UNIT_SUBMITTED);
        }
        err = read_stretch(t, p->queue[t->place], &p->ready, &event);
        if (by_units)
            gs_unit_over(&u);
        if (!err)
            err = gs_staged_note(ended, t->place, event);
    }
    return err;
}

/* Have they ended, or will they as soon as an idle queue's markers do? */
static bool end_soon(const struct gs_events *e)
{
    enum { SOON_NS = 20 * 1000 };
    for (const uint64_t end = gs_now_ns() + SOON_NS; !gs_events_ended(e);)
        if (gs_now_ns() >= end)
            return false;
    return true;
}

static bool on_several(const struct gs_extents *s)
{
    for (unsigned i = 1; i < s->n; i++)
        if (s->v[i].place != s->v[0].place)
            return true;
    return false;
}

/* A blocking read, from all places that hold some of it at once through the ring, or from one after the other; without
 * the context's lock while it waits. */
static cl_int read_pieces(struct gs_command *cmd, struct gs_mem *m, struct gs_range r, bool staged)
{
    struct gs_context *ctx = cmd->ctx;
    struct pieces p = {0};
    struct gs_staged_ends ended = {0};
    if (staged)
        gs_staging_enter(ctx, true);
    const struct gs_label before = gs_label_way(staged ? GS_WAY_STAGED : GS_WAY_DIRECT);
    cl_int err = find_places(cmd, m, r, staged, &p);
    const bool telling = !err && end_soon(&p.ready) && p.again;
    /* NVIDIA's driver takes 3 to 10 us more for a piece that waits for another queue's. */
    gs_events_forget(&p.ready, false);
    const uint64_t begin_ns = gs_now_ns();
    if (!err)
        err = staged ? gs_staging_carry(ctx, p.queue, p.s.v, p.s.n, &p.ready, &ended) : read_in_turn(&p, &ended);
    if (!err && telling)
        gs_timing_read(r.end - r.begin, gs_now_ns() - begin_ns, on_several(&p.s));
    gs_label_back(before);
    if (staged)
        gs_staging_leave(ctx);
    pthread_mutex_lock(&ctx->lock);
    m->root->host_reads--;
    if (!err && cmd->event)
        err = gs_finish_command(cmd->q, CL_COMMAND_READ_BUFFER, &ended.events, ended.place, cmd->event);
    pthread_mutex_unlock(&ctx->lock);
    gs_extents_free(&p.s);
    gs_events_free(&p.ready);
    gs_events_free(&ended.events);
    gs_command_end(cmd);
    return err;
}

/* Reads by units: what lies on several places from there. */
static cl_int read_units_from_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, char *ptr,
                                     cl_event *own)
{
    struct gs_events ended = {0};
    unsigned device[GS_MOST_PIECES] = {0};
    const struct gs_staged all = gs_staged_run(NULL, 0, false, r.begin, r.end - r.begin, ptr);
    cl_int err = gs_host_read(cmd, root, r, &all, &ended, device);
    if (!err)
        err = gs_finish_command(cmd->q, CL_COMMAND_READ_BUFFER, &ended, device, own);
    gs_events_free(&ended);
    return err;
}

/* So few bytes that the driver may be left to wait for them with the context's lock held. NVIDIA's has a thread of its
 * own bring what a read by an event gets to pageable memory, which wakes up late: a job of a launch of 2.3 ms and a
 * read of 4 bytes took 60 us less with a blocking one (an H200), and of 256 KiB 23 us less. Not where a callback of the
 * application might want that lock in a thread that the driver needs for the read. */
static bool may_block(uint64_t bytes)
{
    enum { FEW_BYTES = 256 * 1024 };
    return bytes <= FEW_BYTES && (gs_group()->type & CL_DEVICE_TYPE_GPU) && !gs_callbacks_ever();
}

/* With the context's lock held. */
static bool may_go(struct gs_queue *q, const struct gs_mem *m, struct gs_range r)
{
    return gs_at_home(m->root, r) && gs_queue_is_idle(q);
}

/* A read of one unit that blocks, where nothing is under way in its queue: this thread takes the unit, waits for the
 * end and gives it back; nobody else has to hear of it. False: it isn't one. */
static bool read_alone(const struct gs_command *cmd, const struct gs_mem *m, struct gs_range r, cl_int *err)
{
    struct gs_queue *q = cmd->q;
    struct gs_putting put = {.q = q};
    struct gs_op once = cmd->op;
    cl_event *event = cmd->event;
    struct gs_cut cut;
    struct gs_unit u = {0};
    cl_event own;
    gs_job_enter(q->o.ctx, true, &put.job);
    gs_op_cut(&once, gs_put_chunk(&put, &once), &cut);
    pthread_mutex_lock(&q->o.ctx->lock);
    const bool might = cut.n == 1 && may_go(q, m, r);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (!might)
        return false;
    const bool blocks = may_block(once.region[0]);
    once.blocking = blocks;
    gs_unit_take(&u, GS_RESOURCE_PCI); /* it could run now */
    pthread_mutex_lock(&q->o.ctx->lock);
    const struct gs_upto upto = gs_queue_upto(q);
    const bool may = may_go(q, m, r);
    if (may) {
        gs_unit_to(&u, GS_UNIT_SUBMITTED);
        GS_MAY_WAIT("few bytes of an idle queue");
        *err = gs_enqueue(&once, q->o.handle, cmd->n_wait, cmd->wait, blocks && !event ? NULL : &own);
        GS_MAY_WAIT_NO_MORE();
    }
    pthread_mutex_unlock(&q->o.ctx->lock);
    const bool enqueued = may && !*err;
    if (enqueued)
        gs_job_reads();
    if (enqueued && !blocks)
        *err = gs_real()->clWaitForEvents(1, &own); /* sends it off as well */
    if (may)
        gs_unit_over(&u);
    else
        gs_unit_to(&u, GS_UNIT_QUEUED);
    if (enqueued && !*err)
        gs_queue_drained(q, upto);
    if (enqueued)
        gs_job_look();
    if (enqueued && !*err && event)
        *event = own;
    else if (enqueued && (!blocks || event))
        gs_real()->clReleaseEvent(own);
    return may;
}

static cl_int read_units(const struct gs_command *cmd, struct gs_mem *m, struct gs_range r, bool alone)
{
    struct gs_op unit = cmd->op;
    struct gs_home h;
    cl_event own = NULL;
    cl_int alone_err = CL_SUCCESS;
    if (alone && read_alone(cmd, m, r, &alone_err))
        return alone_err;
    unit.blocking = CL_FALSE;
    gs_home_begin(&h, cmd, true);
    const cl_int err = gs_at_home(m->root, r) ? gs_home_run(&h, cmd->queue, &unit, CL_COMMAND_READ_BUFFER, &own)
                                              : read_units_from_places(&h.cmd, m->root, r, unit.ptr, &own);
    gs_job_reads();
    return gs_home_end_and_wait(&h, err, own);
}

/* The same for a scheduled application: each piece, or each stretch, is a unit. */
static cl_int read_pieces_by_units(struct gs_command *cmd, struct gs_mem *m, struct gs_range r)
{
    struct gs_putting put = {.q = cmd->q};
    gs_job_enter(cmd->ctx, true, &put.job);
    const struct gs_putting *before = gs_put_for(&put);
    const cl_int err = read_pieces(cmd, m, r, true);
    gs_put_for(before);
    gs_job_reads();
    gs_job_look();
    return err;
}

static cl_int read_together(struct gs_command *cmd, struct gs_mem *m, struct gs_range r)
{
    const struct gs_staged all = gs_staged_run(NULL, 0, false, r.begin, r.end - r.begin, cmd->op.ptr);
    cl_event own = NULL;
    const cl_int err = gs_read_from_places(cmd, m->root, r, &all, cmd->event || cmd->op.blocking ? &own : NULL);
    return gs_home_wait(cmd, err, own);
}

static cl_int read_buffer(struct gs_command *cmd)
{
    const struct gs_op *op = &cmd->op;
    struct gs_queue *q = cmd->q;
    struct gs_mem *m = q ? gs_find(GS_MEM, op->src) : NULL;
    const size_t offset = op->from[0], size = op->region[0];
    gs_report_moved(GS_PATH_APP_READ, size);
    /* The driver knows what is wrong with a call that we can't serve. */
    const bool known = m && op->ptr && gs_inside(m, offset, size) && gs_may_read(m);
    const bool ours = known && gs_list_is_sound(cmd->n_wait, cmd->wait);
    if (known && !ours && cmd->n_wait && cmd->wait) /* it names no event; a driver may do without */
        return gs_home_transfer(cmd, (struct gs_side){.m = m, .r = gs_window_range(m, offset, size)},
                                (struct gs_side){0}, NULL);
    /* As long as nothing is split, everything is at home. */
    const bool at_home = ours && gs_is_small(m, size) && !atomic_load(&q->o.ctx->divided);
    const bool by_units = ours && gs_scheduled();
    const struct gs_range r = m ? gs_window_range(m, offset, size) : (struct gs_range){0, 0};
    enum read_way way = ours && !at_home ? choose_read(q, m, r, op->ptr, op->blocking) : READ_AT_HOME;
    const bool direct = by_units && way != READ_STAGED && way != READ_BESIDE;
    const bool alone = direct && gs_home_await_before(cmd);
    gs_queue_close(cmd->queue);
    if (way == READ_STAGED)
        return by_units ? read_pieces_by_units(cmd, m, r) : read_pieces(cmd, m, r, true);
    if (way == READ_BESIDE) {
        const struct gs_staged run = gs_staged_run(op->src, 0, false, offset, size, op->ptr);
        cl_event own;
        if (gs_read_beside(cmd, m, r, &run, &own) == CL_SUCCESS)
            return gs_home_wait(cmd, CL_SUCCESS, own);
        way = gs_range_at_home(q, m, r) ? READ_AT_HOME : READ_TOGETHER;
    }
    if (by_units)
        return read_units(cmd, m, r, alone);
    if (way == READ_AT_HOME)
        return gs_command_pass(cmd);
    return way == READ_IN_TURN ? read_pieces(cmd, m, r, false) : read_together(cmd, m, r);
}

static GS_COLD cl_int read_carefully(struct gs_command *cmd)
{
    gs_fast_path_look();
    GS_CALL("clEnqueueReadBuffer");
    struct gs_queue *q = gs_queue_touched(cmd->queue);
    cmd->q = q && gs_follows(q->o.ctx) ? q : NULL;
    cmd->ctx = q ? q->o.ctx : NULL;
    /* On a queue in order, what was launched before has run when this returns. */
    const bool tells = cmd->op.blocking && cmd->q && !q->out_of_order;
    const struct gs_sieve before = gs_timing_before_wait(tells ? q : NULL);
    const cl_int err = read_buffer(cmd);
    gs_timing_after_wait(&before, err);
    return err;
}

GS_FAST_PATH CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                 cl_bool blocking_read, size_t offset, size_t size,
                                                                 void *ptr, cl_uint num_events_in_wait_list,
                                                                 const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ, .blocking = blocking_read, .src = buffer, .from = {offset},
                                       .region = {size, 1, 1}, .ptr = ptr);
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    struct gs_mem *m = gs_fast_path_may(t) ? gs_find_newest(GS_MEM, buffer) : NULL;
    const struct gs_queue *q = m ? gs_find_newest(GS_QUEUE, command_queue) : NULL;
    if (!q || !gs_is_plain(m, offset, size) || (blocking_read && gs_timing_learns_by_wait(q)))
        return read_carefully(&cmd);
    gs_fast_path_count(t, GS_FAST_PATH_BLOCKS);
    return gs_command_pass(&cmd);
}
