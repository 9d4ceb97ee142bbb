/* SPDX-License-Identifier: MIT */
#include "shim/schedule/deferred.h"

#include "common/lock/locked.h"
#include "shim/order/upward.h"

void gs_queue_drained(struct gs_queue *q, struct gs_queue_mark upto, bool well)
{
    gs_timeline_end(q->timeline, upto.call);
    if (well && !q->out_of_order)
        gs_units_over(q->o.handle, upto.order);
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

struct gs_queue_mark gs_queue_mark(struct gs_queue *q)
{
    return (struct gs_queue_mark){.call = gs_timeline_newest(q->timeline),
                                  .order = atomic_load(&gs_deferred_list.order)};
}

bool gs_queue_is_idle(struct gs_queue *q)
{
    const unsigned call = gs_timeline_newest(q->timeline);
    GS_LOCKED(&gs_deferred_list.lock);
    const struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    return gs_timeline_ended_before(q->timeline, call) && (!h || gs_is_served(h));
}

bool gs_queue_is_submitted(struct gs_queue *q)
{
    GS_LOCKED(&gs_deferred_list.lock);
    const struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    return !h || gs_is_served(h) || (gs_is_taken(h) && !gs_has_units(h));
}

/* Has all ended that the application has enqueued there, as far as is known? */
static bool is_empty(struct gs_queue *q, bool of_this_call)
{
    const unsigned call = gs_timeline_newest(q->timeline);
    if (q->out_of_order || !gs_scheduled() || !gs_timeline_ended_before(q->timeline, of_this_call ? call : call + 1))
        return false;
    GS_LOCKED(&gs_deferred_list.lock);
    return !gs_deferred_last_in(q->o.handle);
}

/* Waits until all units of a command of several have ended, as the thread that looks for ends sees it. */
static void await_units(const struct gs_deferred *h)
{
    GS_LOCKED(&gs_deferred_list.lock);
    while (h->state != GS_OVER)
        pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
}

void gs_queue_close(cl_command_queue queue)
{
    if (!atomic_load(&gs_deferred_list.loose))
        return;
    pthread_mutex_lock(&gs_deferred_list.lock);
    struct gs_deferred *h = gs_deferred_last_in(queue);
    const bool open = h && h->units.n == 1 && (h->loose || gs_share_is_joining(h->sharing)) && gs_deferred_keep(h);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!open)
        return;
    gs_unit_close(h);
    gs_deferred_drop(h);
}

void gs_queue_leave(cl_command_queue queue)
{
    gs_queue_close(queue);
    pthread_mutex_lock(&gs_deferred_list.lock);
    bool any = false;
    for (struct gs_deferred *h = gs_deferred_list.oldest; h;) {
        if (h->home == queue && gs_share_waits(h, GS_SHARE_LEAVE)) {
            pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
            h = gs_deferred_list.oldest;
            continue;
        }
        any = any || h->home == queue;
        if (h->home == queue)
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
    pthread_mutex_lock(&q->o.ctx->lock); /* who changes what comes last has it */
    const struct gs_queue_mark upto = gs_queue_mark(q);
    pthread_mutex_lock(&gs_deferred_list.lock);
    struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const bool idle = gs_timeline_ended_before(q->timeline, upto.call) && (!h || gs_is_served(h));
    const bool several = h && gs_has_units(h);
    const bool known = !idle && h && (several || !of_several) && upto.call - h->call <= 1 && gs_deferred_keep(h);
    if (known && several)
        last = h->end;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (known && !several) {
        gs_unit_close(h); /* so that its last event stays the last */
        last = gs_deferred_last_event(h);
    }
    if (last)
        gs_real()->clRetainEvent(last);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (!known)
        return idle;
    if (several) {
        await_units(h);
    } else {
        gs_unit_send(h);
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

const struct gs_above_order gs_above_order = {.close = gs_queue_close, .is_empty = is_empty};
