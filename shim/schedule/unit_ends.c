/* SPDX-License-Identifier: MIT */
/* See dispatch.h, section unit_ends.c. */
#include "shim/schedule/deferred.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"

#include "shim/order/completion.h"
#include "shim/order/upward.h"

/* A unit that no launch has joined for so long is closed. */
enum { QUIET_NS = 30 * 1000 };

/* An application that has not called for so long isn't enqueueing a stream of commands. */
enum { STREAM_NS = 500 * 1000 };

/* An application that has not called for so long waits, or computes. */
enum { PAUSE_NS = 100 * 1000 };

/* How long a unit that ends now took: since its grant, or since the last unit of its resource ended. */
static uint64_t time_of(unsigned resource, const struct gs_grant *grant, uint64_t now)
{
    const uint64_t before = atomic_exchange(&gs_deferred_list.ended_ns[resource], now);
    const uint64_t begin = before > grant->begin_ns ? before : grant->begin_ns;
    return now > begin ? now - begin : 0;
}

void gs_record_times(struct gs_event *record, cl_event event, int64_t offset_ns)
{
    static const cl_profiling_info what[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                             CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_ulong t[4];
    for (int i = 0; i < 4; i++)
        if (gs_real()->clGetEventProfilingInfo(event, what[i], sizeof *t, &t[i], NULL) != CL_SUCCESS)
            return;
    for (int i = 0; i < 4; i++)
        t[i] += (cl_ulong)offset_ns;
    GS_LOCKED(&record->times_lock);
    for (int i = 0; i < 4; i++)
        if (!record->has_times || (i == 3 ? t[i] > record->times[i] : t[i] < record->times[i]))
            record->times[i] = t[i];
    record->has_times = true;
}

static void unit_ended(cl_event event, cl_int status, void *data)
{
    struct gs_unit *u = data;
    gs_unit_on(u, status < 0 ? GS_UNIT_FAILS : GS_UNIT_COMPLETES); /* before slow calls of the driver */
    if (status < 0)
        gs_deferred_set_error(u->held, status);
    else if (u->held->record)
        gs_record_times(u->held->record, event, 0);
    const struct gs_units *units = &u->held->units;
    const unsigned resource = u->held->units.resource;
    const uint64_t now = gs_now_ns(), took = time_of(resource, &u->grant, now);
    if (units->spent)
        atomic_fetch_add(units->kernel ? &units->spent->kernel_ns[units->place] : &units->spent->other_ns[resource],
                         took);
    if (units->n == 1)
        gs_batch_complete(&u->held->batch, took, now - u->grant.begin_ns, u->waited);
    else
        atomic_fetch_add(&u->held->took_ns, took);
    gs_deferred_done(u->held);
    gs_deferred_drop(u->held);
}

void gs_unit_over(struct gs_unit *u)
{
    gs_unit_on(u, GS_UNIT_COMPLETES);
    time_of(u->grant.resource, &u->grant, gs_now_ns());
}

/* The last event of a single unit. */
static cl_event last_event(const struct gs_deferred *h)
{
    return h->tail ? h->tail : h->first;
}

/* The unit's last event is `marker` now; null: the driver has refused it. */
static void is_tied(struct gs_deferred *h, cl_event marker)
{
    cl_event old = NULL;
    pthread_mutex_lock(&gs_deferred_list.lock);
    if (marker) {
        old = h->tail;
        h->tail = marker;
    }
    gs_share_on(h, marker ? GS_SHARE_DONE : GS_SHARE_REFUSED);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    GS_RELEASE(Event, old);
}

/* Closes a single unit, which must be held. If its last command has no event, enqueues a marker right behind. False:
 * the driver refuses the marker. True: last_event tells of the unit's end; null: it has ended. */
static bool close_unit(struct gs_deferred *h)
{
    cl_event marker = NULL;
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool loose = gs_share_on(h, GS_SHARE_SETTLE);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!loose)
        return true;
    const bool tied = gs_enqueue_marker(h->units.queue, 0, NULL, &marker) == CL_SUCCESS;
    if (tied)
        gs_job_add(marker);
    is_tied(h, tied ? marker : NULL);
    return tied;
}

/* close_unit for who can't ask again later: without a marker the unit ends here. Not for the completion watcher, which
 * alone tells of what may come before in the queue. */
static void close_or_await(struct gs_deferred *h)
{
    if (close_unit(h))
        return;
    GS_MAY_WAIT("a queue whose marker the driver has refused", GS_WITHOUT_LIMIT);
    gs_real()->clFinish(h->units.queue);
    pthread_mutex_lock(&gs_deferred_list.lock);
    gs_share_on(h, GS_SHARE_LEAVE);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    gs_real()->clFlush(h->units.queue); /* for a marker that the watcher had from the driver meanwhile */
}

void gs_units_await(void)
{
    GS_LOCKED(&gs_deferred_list.lock);
    for (struct gs_deferred *h = gs_deferred_list.oldest; h;) {
        const bool closing = gs_share_waits(h, GS_SHARE_SEND);
        if (closing) {
            GS_MAY_WAIT("a thread that is just enqueueing a marker", 10 * GS_MS);
            pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock); /* h may be gone then */
        }
        h = closing ? gs_deferred_list.oldest : h->newer;
    }
}

/* Flushes the unit's queue, unless that is done. The application isn't releasing the queue at the same time. */
static void send_unit(struct gs_deferred *h)
{
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool sends = gs_share_on(h, GS_SHARE_SEND);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!sends)
        return;
    gs_real()->clFlush(h->units.queue);
    GS_LOCKED(&gs_deferred_list.lock);
    gs_share_on(h, GS_SHARE_DONE);
}

/* For the completion watcher: closes and flushes a unit that launches no longer join. *last: its last event, or null if
 * the unit has ended. False: not yet. */
static bool last_of(void *data, cl_event *last)
{
    struct gs_unit *u = data;
    struct gs_deferred *h = u->held;
    const uint64_t now = gs_now_ns();
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool over = gs_share_is_open(h) ? now > h->joined_ns + QUIET_NS : !gs_share_waits(h, GS_SHARE_SETTLE);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!over || !close_unit(h))
        return false;
    *last = last_event(h);
    if (*last) {
        gs_real()->clRetainEvent(*last);
        send_unit(h);
        u->waited = gs_event_status(*last) > CL_COMPLETE;
    }
    return true;
}

/* Does anybody need the unit's end now? While the application enqueues, or waits for commands, its threads look. */
static bool is_wanted(const void *data)
{
    const struct gs_deferred *h = ((const struct gs_unit *)data)->held;
    const uint64_t called_ns = atomic_load(&gs_deferred_list.called_ns), now = gs_now_ns();
    const bool busy = atomic_load(&gs_deferred_list.waiting) || now < called_ns + STREAM_NS;
    /* In a queue of ours no thread of the application looks. Pieces' units are looked at only in a pause: each question
     * to the driver meanwhile would make the application's calls take twice as long (H200). */
    const bool unseen = !h->timeline && !gs_app_is_sole() && (!h->units.pieces || now > called_ns + PAUSE_NS);
    const struct gs_client *c = gs_process.client;
    return !busy || unseen || gs_has_units(h) || h->units.spent || (c && gs_client_own_waits(c, h->units.resource)) ||
           gs_units_wanted();
}

void gs_unit_watch(struct gs_deferred *h, struct gs_unit *u, cl_event event)
{
    atomic_fetch_add(&h->refs, 1);
    atomic_fetch_add(&h->left, 1);
    u->held = h;
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool more = h->units.n == 1 && (gs_share_is_open(h) || gs_share_is_loose(h) || h->tail);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (more && gs_await_end(NULL, last_of, is_wanted, unit_ended, u))
        return;
    if (more) { /* no memory: the watcher can't ask for the last event later */
        close_or_await(h);
        event = last_event(h);
    }
    u->waited = true;
    if (event && gs_await_end(event, NULL, is_wanted, unit_ended, u))
        return;
    gs_real()->clFlush(h->units.queue);
    GS_MAY_WAIT("a unit of which there is no memory to watch the end", GS_WITHOUT_LIMIT);
    const bool well = !event || gs_real()->clWaitForEvents(1, &event) == CL_SUCCESS;
    unit_ended(event, well ? CL_COMPLETE : CL_OUT_OF_RESOURCES, u);
}

/* The entry of a single unit that has surely ended. Null: the unit isn't submitted, has ended, or another thread is at
 * it. With gs_deferred_list.lock held. */
static struct gs_awaited *claim(struct gs_deferred *h)
{
    struct gs_unit *u = h->unit;
    const bool quiet = !gs_share_waits(h, GS_SHARE_LEAVE);
    struct gs_awaited *a = gs_unit_is(u, GS_UNIT_SUBMITTED) && quiet ? gs_completion_claim(u) : NULL;
    if (!a)
        return NULL;
    u->waited = atomic_load(&h->pending);
    gs_share_on(h, GS_SHARE_LEAVE);
    return a;
}

/* All commands of the in-order queue up to this number have ended: so have single units. Doesn't ask the driver. */
static void units_over(cl_command_queue queue, unsigned upto)
{
    struct gs_awaited *a;
    do {
        a = NULL;
        pthread_mutex_lock(&gs_deferred_list.lock);
        for (struct gs_deferred *h = gs_deferred_list.oldest; h && !a; h = h->newer)
            if (h->units.queue == queue && h->units.n == 1 && (int)(h->call - upto) <= 0)
                a = claim(h);
        pthread_mutex_unlock(&gs_deferred_list.lock);
        if (a)
            gs_completion_over(a);
    } while (a);
}

void gs_units_look(unsigned resource, cl_command_queue queue)
{
    enum { MOST = 4, LOOKED_AT = 64 }; /* units under way are among the oldest; the others stand behind gates */
    const void *units[MOST];
    unsigned n = 0, seen = 0;
    pthread_mutex_lock(&gs_deferred_list.lock);
    for (struct gs_deferred *h = gs_deferred_list.oldest; h && n < MOST && seen < LOOKED_AT; h = h->newer, seen++)
        if (gs_unit_is(h->unit, GS_UNIT_SUBMITTED) && h->units.n == 1 &&
            (queue ? h->units.queue == queue : h->units.resource == resource))
            units[n++] = h->unit;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    while (n)
        gs_completion_now(units[--n]);
}

/* ---- which commands of a queue have ended ---- */

void gs_queue_drained(struct gs_queue *q, unsigned upto, bool well)
{
    gs_timeline_end(q->timeline, upto);
    if (well && !q->out_of_order)
        units_over(q->o.handle, upto);
    else
        gs_units_look(0, q->o.handle);
}

void gs_queue_waits(int more)
{
    atomic_fetch_add(&gs_deferred_list.waiting, more);
}

void gs_wait_ended(void)
{
    if (atomic_load(&gs_deferred_list.loose) && !gs_forked()) /* another thread may be about to see to that */
        gs_units_await();
    if (!atomic_load(&gs_deferred_list.loose))
        gs_job_look();
}

bool gs_queue_is_idle(struct gs_queue *q)
{
    GS_LOCKED(&gs_deferred_list.lock);
    return gs_queue_is_drained(q, gs_deferred_last_in(q->o.handle));
}

bool gs_queue_is_submitted(struct gs_queue *q)
{
    GS_LOCKED(&gs_deferred_list.lock);
    const struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    return !h || gs_is_served(h) || (gs_is_taken(h) && !gs_has_units(h));
}

/* Are all the application's commands in the queue known to have ended? */
static bool is_empty(struct gs_queue *q, bool of_this_call)
{
    const unsigned newest = gs_timeline_newest(q->timeline);
    if (q->out_of_order || !gs_scheduled() ||
        !gs_timeline_ended_before(q->timeline, of_this_call ? newest : newest + 1))
        return false;
    GS_LOCKED(&gs_deferred_list.lock);
    return !gs_deferred_last_in(q->o.handle);
}

/* Waits for a command of several units, until the completion watcher has seen all units end. */
static void await_units(const struct gs_deferred *h)
{
    GS_LOCKED(&gs_deferred_list.lock);
    while (h->state != GS_OVER)
        pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
}

void gs_queue_close_unit(cl_command_queue queue)
{
    if (!atomic_load(&gs_deferred_list.loose))
        return;
    pthread_mutex_lock(&gs_deferred_list.lock);
    struct gs_deferred *h = gs_deferred_last_in(queue);
    const bool open = h && gs_share_is_loose(h) && gs_deferred_keep(h);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!open)
        return;
    close_or_await(h);
    gs_deferred_drop(h);
}

void gs_queue_leave(cl_command_queue queue)
{
    gs_queue_close(queue);
    pthread_mutex_lock(&gs_deferred_list.lock);
    bool any = false;
    for (struct gs_deferred *h = gs_deferred_list.oldest; h;) {
        if (h->units.queue == queue && gs_share_waits(h, GS_SHARE_LEAVE)) {
            pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
            h = gs_deferred_list.oldest;
            continue;
        }
        any = any || h->units.queue == queue;
        if (h->units.queue == queue)
            gs_share_on(h, GS_SHARE_LEAVE);
        h = h->newer;
    }
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (any)
        gs_real()->clFlush(queue);
}

bool gs_queue_await(struct gs_queue *q, bool of_several)
{
    cl_event last = NULL;
    pthread_mutex_lock(&q->o.ctx->lock); /* whoever adds a command to the queue has this lock */
    const unsigned upto = gs_timeline_newest(q->timeline);
    pthread_mutex_lock(&gs_deferred_list.lock);
    struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const bool idle = gs_queue_is_drained(q, h), several = h && gs_has_units(h);
    const bool known = !idle && h && (several || !of_several) && upto - h->call <= 1 && gs_deferred_keep(h);
    if (known && several)
        last = h->end;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (known && !several && close_unit(h)) /* the unit's last event must stay its last */
        last = last_event(h);
    if (last)
        gs_real()->clRetainEvent(last);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (known && !last)
        gs_deferred_drop(h);
    if (!last)
        return idle;
    if (several) {
        await_units(h);
    } else {
        send_unit(h);
        atomic_store(&h->pending, gs_event_status(last) > CL_COMPLETE);
    }
    gs_deferred_drop(h);
    gs_queue_waits(1);
    const cl_int err = gs_real()->clWaitForEvents(1, &last); /* however it ends */
    gs_queue_waits(-1);
    gs_queue_drained(q, upto, !err);
    GS_RELEASE(Event, last);
    return true;
}

const struct gs_above_order gs_above_order = {
    .close = gs_queue_close, .is_empty = is_empty, .start_threads = gs_workers_start};
