/* SPDX-License-Identifier: MIT */
#include "shim/order/command.h"

#include "common/lock/rank.h"
#include "shim/order/completion.h"
#include "shim/events/gates.h"
#include "shim/order/upward.h"
#include "shim/report/report.h"
#include "common/memory.h"

/* A marker behind all commands in the queue. */
static cl_int add_marker(struct gs_events *e, cl_command_queue queue, cl_uint n_wait, const cl_event *wait)
{
    cl_event marker;
    cl_int err = gs_enqueue_marker(queue, n_wait, n_wait ? wait : NULL, &marker);
    return err ? err : gs_events_add(e, marker);
}

static void ends_well(cl_event event, cl_int status, void *data)
{
    cl_event end = data;
    (void)event;
    (void)status;
    gs_event_end(end, CL_COMPLETE);
    gs_real()->clReleaseEvent(end);
}

/* Replaces the list's last event by a user event that completes when the last event ends, even by a failure. */
static cl_int shield_last(struct gs_events *e, cl_context ctx)
{
    cl_int err;
    cl_event *last = &e->v[e->n - 1], end = gs_gate_new(ctx, &err);
    if (err)
        return err;
    err = gs_real()->clRetainEvent(end);
    if (!err && !gs_await_end(*last, NULL, NULL, ends_well, end)) {
        gs_real()->clReleaseEvent(end);
        err = CL_OUT_OF_HOST_MEMORY;
    }
    if (err) {
        gs_event_end(end, err);
        gs_real()->clReleaseEvent(end);
        return err;
    }
    gs_real()->clReleaseEvent(*last);
    *last = end;
    return CL_SUCCESS;
}

cl_event gs_command_leave(struct gs_context *ctx, cl_event end)
{
    struct gs_events *e = &ctx->ends->orphans;
    if (gs_events_share(e, end) != CL_SUCCESS)
        return NULL;
    shield_last(e, ctx->o.handle);
    return e->v[e->n - 1];
}

void gs_command_prefetches(const struct gs_command *cmd, const struct gs_events *ends)
{
    struct gs_ends *of = cmd->ctx->ends;
    if (ends->n && of->prefetched_by != cmd->serial)
        gs_events_free(&of->prefetched);
    for (cl_uint i = 0; i < ends->n; i++) {
        of->prefetched_by = cmd->serial;
        if (gs_event_is_in(&of->prefetched, ends->v[i]) || !gs_events_share(&of->prefetched, ends->v[i]))
            continue;
        GS_MAY_WAIT("a transfer of which there is no memory to keep the end", GS_WITHOUT_LIMIT);
        gs_real()->clWaitForEvents(1, &ends->v[i]);
    }
}

cl_int gs_command_list(const struct gs_command *cmd)
{
    if (!cmd->n_wait && cmd->wait)
        return gs_enqueue_marker(cmd->q->o.handle, 0, cmd->wait, NULL);
    return cmd->n_wait && !cmd->wait ? CL_INVALID_EVENT_WAIT_LIST : CL_SUCCESS;
}

/* A marker behind the wait list, without nulls and other contexts' events: the driver judges these when it gets the
 * command itself with the unchanged list. */
static cl_int mark_list(struct gs_command *cmd)
{
    struct gs_events named = {0};
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < cmd->n_wait && !err; i++)
        if (cmd->wait[i] && gs_event_context(cmd->wait[i]) == cmd->ctx->o.handle)
            err = gs_events_share(&named, cmd->wait[i]);
    if (!err)
        err = add_marker(&cmd->before, cmd->q->o.handle, named.n, named.v);
    gs_events_free(&named);
    return err;
}

/* Adds those that are under way, unless the application's own order is all there is. */
static cl_int add_ends(struct gs_command *cmd, struct gs_events *ends, bool own_only, bool shielded)
{
    cl_int err = CL_SUCCESS;
    gs_events_drop_complete(ends, true);
    for (cl_uint i = 0; i < ends->n && !err && !own_only; i++) {
        err = gs_events_share(&cmd->before, ends->v[i]);
        if (!err && shielded)
            err = shield_last(&cmd->before, cmd->ctx->o.handle);
    }
    return err;
}

cl_int gs_command_order(struct gs_command *cmd)
{
    if (cmd->ordered)
        return CL_SUCCESS;
    gs_above_order.close(cmd->q->o.handle);
    cl_int err = gs_command_list(cmd);
    /* An in-order queue's marker with a wait list comes after the queue's earlier commands as well. */
    if (cmd->n_wait && !err) {
        err = gs_list_is_valid(cmd->n_wait, cmd->wait)
                  ? add_marker(&cmd->before, cmd->q->o.handle, cmd->n_wait, cmd->wait)
                  : mark_list(cmd);
        /* PoCL lets launches, and nothing else, wait for another context's event. */
        cmd->foreign = err == CL_INVALID_CONTEXT && cmd->op.kind == GS_OP_LAUNCH;
        if (cmd->foreign)
            err = mark_list(cmd);
        gs_timeline_enqueue_untracked(cmd->q->timeline);
    }
    /* Other commands may wait for a user event without a status as long as this command does. Until the status comes,
     * all bytes are at home, and the application's own order is enough. */
    const bool own_only = atomic_load(&cmd->ctx->user_events);
    /* A failed command matters only to commands that the application lets wait for it. */
    const bool shielded = atomic_load(&cmd->ctx->user_event_failed);
    for (struct gs_queue *q = cmd->ctx->queues; q && !err; q = q->next) {
        if (q == cmd->q ? cmd->n_wait && !q->out_of_order : own_only)
            continue;
        if (gs_above_order.is_empty(q, q == cmd->q) || (own_only && q->out_of_order))
            continue;
        if (q != cmd->q)
            gs_above_order.close(q->o.handle);
        err = add_marker(&cmd->before, q->o.handle, 0, NULL);
        if (!err && shielded && (q != cmd->q || q->out_of_order))
            err = shield_last(&cmd->before, cmd->ctx->o.handle);
        if (!err && q != cmd->q)
            err = gs_real()->clFlush(q->o.handle);
    }
    if (!err)
        err = gs_real()->clFlush(cmd->q->o.handle); /* commands on other queues wait for its markers */
    gs_compound_look(cmd->ctx, NULL);               /* adds to the orphans */
    if (!err)
        err = add_ends(cmd, &cmd->ctx->ends->orphans, own_only, shielded);
    if (!err)
        err = add_ends(cmd, &cmd->ctx->ends->prefetched, own_only, shielded);
    /* After an error the order starts anew when the caller asks again, to run on one device instead. */
    if (err)
        gs_command_end(cmd);
    cmd->ordered = !err;
    cmd->serial = err ? 0 : ++cmd->ctx->ends->commands;
    return err;
}

void gs_command_end(struct gs_command *cmd)
{
    gs_events_free(&cmd->before);
    gs_events_free(&cmd->ended);
    for (unsigned i = 0; cmd->left && i < GS_MAX_DEVICES; i++)
        GS_RELEASE(Event, cmd->left[i]);
    free(cmd->left);
    cmd->left = NULL;
    cmd->ordered = false;
}

/* Makes an ended user event: an out-of-order queue's marker that waits for it comes after barriers only. */
static cl_int make_ended(struct gs_context *ctx)
{
    cl_event *ended = &ctx->ends->ended;
    cl_int err = CL_SUCCESS;
    if (*ended)
        return err;
    *ended = gs_real()->clCreateUserEvent(ctx->o.handle, &err);
    if (!err && (err = gs_event_end(*ended, CL_COMPLETE)) != CL_SUCCESS) {
        gs_real()->clReleaseEvent(*ended);
        *ended = NULL;
    }
    return err;
}

cl_int gs_mark_out_of_order(struct gs_queue *q, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *out)
{
    cl_int err = CL_SUCCESS;
    if (!n && !wait && queue == q->o.handle && q->out_of_order) {
        err = make_ended(q->o.ctx);
        n = 1;
        wait = &q->o.ctx->ends->ended;
    }
    return err ? err : gs_enqueue_marker(queue, n, wait, out);
}

struct gs_event *gs_event_new(struct gs_context *ctx, const struct gs_event *like, cl_int *err)
{
    const cl_event event =
        like->pooled ? gs_real()->clCreateUserEvent(ctx->o.handle, err) : gs_gate_new(ctx->o.handle, err);
    if (*err)
        return NULL;
    struct gs_event *e = malloc(sizeof *e);
    if (!e) {
        gs_event_end(event, CL_OUT_OF_HOST_MEMORY);
        gs_real()->clReleaseEvent(event);
        *err = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *e = *like;
    pthread_mutex_init(&e->times_lock, NULL);
    gs_rank_lock(&e->times_lock, GS_RANK_EVENT_TIMES);
    gs_insert(&e->o, GS_EVENT, event, ctx);
    return e;
}

void gs_ends_free(struct gs_ends *ends)
{
    GS_RELEASE(Event, ends->ended);
    gs_events_free(&ends->orphans);
    gs_events_free(&ends->unended);
    gs_events_free(&ends->failed);
    gs_events_free(&ends->prefetched);
    free(ends);
}

static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER; /* so that no queue is made twice. Calls the driver */
GS_RANKED(queues_lock, GS_RANK_FURTHER_QUEUES);

cl_command_queue gs_queue_of_kind(struct gs_queue *q, enum gs_queue_kind kind, unsigned place, cl_int *err)
{
    const struct gs_context *ctx = q->o.ctx;
    /* Profiles only where they are looked at, since NVIDIA's driver takes some 8 us more for each command of such a
     * queue, and up to twice as long for reads of pageable memory. (A command's profile is made of its parts'.) */
    const bool timed =
        kind == GS_TIMED_QUEUE || (kind == GS_EXEC_QUEUE && gs_learns()) || q->profiling || gs_report_wants_times();
    const bool of_parent = gs_group()->parent && (kind == GS_IMAGE_QUEUE || kind == GS_UNIT_IMAGE_QUEUE);
    if (of_parent)
        place = 0;
    else if (kind == GS_IMAGE_QUEUE || kind == GS_UNIT_IMAGE_QUEUE)
        kind = kind == GS_IMAGE_QUEUE ? GS_COPY_QUEUE : GS_UNIT_QUEUE;
    if (kind == GS_COPY_QUEUE && q->behind->called)
        kind = GS_BESIDE_QUEUE;
    const bool locked = kind >= GS_UNIT_QUEUE;
    cl_command_queue *queue = &q->behind->of[kind][place];
    *err = CL_SUCCESS;
    if (locked)
        pthread_mutex_lock(&queues_lock);
    else if (kind < GS_QUEUES_FLUSHED)
        q->behind->unsent[kind] |= 1u << place;
    if (!*queue)
        *queue = gs_real()->clCreateCommandQueue(ctx->o.handle, of_parent ? gs_group()->parent : ctx->dev[place],
                                                 timed ? CL_QUEUE_PROFILING_ENABLE : 0, err);
    if (locked)
        pthread_mutex_unlock(&queues_lock);
    return *queue;
}

bool gs_copy_queues_call(struct gs_queue *q, bool begins)
{
    const bool changes = q->behind->called != begins;
    q->behind->called = begins;
    return changes;
}

struct gs_queue_set *gs_queue_set_new(cl_command_queue handle)
{
    struct gs_queue_set *queues = calloc(1, sizeof *queues);
    if (queues)
        queues->of[GS_EXEC_QUEUE][0] = handle;
    return queues;
}

void gs_queue_set_free(struct gs_queue_set *queues)
{
    queues->of[GS_EXEC_QUEUE][0] = NULL; /* released by the application */
    for (unsigned k = 0; k < GS_QUEUE_KINDS; k++)
        for (unsigned i = 0; i < GS_MAX_DEVICES; i++)
            GS_RELEASE(CommandQueue, queues->of[k][i]);
    free(queues->several);
    free(queues);
}

/* Flushing an empty queue takes NVIDIA's driver 2 to 7 us, so only queues are flushed that were asked for since the
 * last flush. The application's own queue comes last, asked for or not: the application enqueues there too. */
void gs_command_flush(struct gs_queue *q)
{
    q->behind->unsent[GS_EXEC_QUEUE] |= 1;
    for (unsigned kind = 0; kind < GS_QUEUES_FLUSHED; kind++)
        for (unsigned i = q->o.ctx->n; i-- > 0;)
            if (q->behind->unsent[kind] >> i & 1 && q->behind->of[kind][i])
                gs_real()->clFlush(q->behind->of[kind][i]);
    memset(q->behind->unsent, 0, sizeof q->behind->unsent);
}

/* ---- events that stand for several commands ---- */

struct gs_compound {
    cl_event end;
    struct gs_events of;
};

static void drop_oldest(struct gs_queue *q, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gs_events_free(&q->behind->several[i].of);
        gs_real()->clReleaseEvent(q->behind->several[i].end);
    }
    if (n < q->behind->n_several)
        memmove(q->behind->several, q->behind->several + n, (q->behind->n_several - n) * sizeof *q->behind->several);
    q->behind->n_several -= n;
}

static void forget_ended(struct gs_queue *q)
{
    size_t n = 0;
    while (n < q->behind->n_several && gs_event_status(q->behind->several[n].end) == CL_COMPLETE)
        n++;
    drop_oldest(q, n);
}

void gs_compound_add(struct gs_queue *q, cl_event end, const struct gs_events *of)
{
    forget_ended(q);
    struct gs_compound *more =
        gs_grown(q->behind->several, q->behind->n_several, &q->behind->several_cap, sizeof *more);
    if (!more)
        return;
    q->behind->several = more;
    struct gs_compound s = {.end = end};
    if (gs_real()->clRetainEvent(end) != CL_SUCCESS)
        return;
    gs_events_share_all(&s.of, of);
    q->behind->several[q->behind->n_several++] = s;
}

/* Keeps a failed marker: PoCL (3.1) works on it again when the other commands that it waited for end. */
static void spoil_failed(struct gs_context *ctx, const struct gs_compound *s)
{
    bool any = false;
    for (cl_uint i = 0; i < s->of.n; i++) {
        const bool ended = gs_event_ended(s->of.v[i]);
        cl_event end = ended ? NULL : gs_command_leave(ctx, s->of.v[i]);
        if (end)
            gs_events_share(&ctx->ends->unended, end);
        any = any || !ended;
    }
    if (any)
        gs_events_share(&ctx->ends->failed, s->end);
}

static void look(struct gs_queue *q)
{
    forget_ended(q);
    const struct gs_compound *several = q->behind->several;
    const size_t n = q->behind->n_several;
    if (!n || (gs_event_status(several[0].end) >= CL_COMPLETE && gs_event_status(several[n - 1].end) >= CL_COMPLETE))
        return;
    for (size_t i = 0; i < n; i++)
        spoil_failed(q->o.ctx, &several[i]);
    drop_oldest(q, n);
}

void gs_compound_look(struct gs_context *ctx, struct gs_queue *only)
{
    for (struct gs_queue *q = only ? only : ctx->queues; q; q = only ? NULL : q->next)
        look(q);
}

cl_int gs_compound_await(struct gs_context *ctx, struct gs_events *to)
{
    if (!ctx->ends->unended.n)
        return CL_SUCCESS;
    if (!gs_events_drop_complete(&ctx->ends->unended, true))
        gs_events_free(&ctx->ends->failed);
    return gs_events_share_all(to, &ctx->ends->unended);
}

void gs_compound_leave(struct gs_queue *q)
{
    struct gs_events *orphans = &q->o.ctx->ends->orphans;
    cl_event end;
    look(q);
    for (size_t i = 0; i < q->behind->n_several; i++)
        for (cl_uint k = 0; k < q->behind->several[i].of.n; k++)
            gs_events_share(orphans, q->behind->several[i].of.v[k]);
    drop_oldest(q, q->behind->n_several);
    if (q->o.ctx->n > 1 && !q->o.ctx->pooled &&
        (gs_enqueue_marker(q->o.handle, 0, NULL, &end) != CL_SUCCESS || gs_events_add(orphans, end) != CL_SUCCESS))
        gs_real()->clFinish(q->o.handle);
}
