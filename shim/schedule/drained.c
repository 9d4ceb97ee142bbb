/* SPDX-License-Identifier: MIT */
#include "shim/schedule/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "shim/order/command.h"
#include "shim/order/completion.h"

void gs_drained_drop(struct gs_drained *d)
{
    if (d && atomic_fetch_sub(&d->refs, 1) == 1)
        free(d);
}

void gs_has_drained(struct gs_drained *d, unsigned call)
{
    unsigned known = atomic_load(&d->upto);
    while ((int)(call - known) > 0 && !atomic_compare_exchange_weak(&d->upto, &known, call))
        ;
}

static unsigned drained_upto(const struct gs_queue *q)
{
    return q->drained ? atomic_load(&q->drained->upto) : 0;
}

bool gs_is_drained(const struct gs_queue *q, unsigned call)
{
    return call - drained_upto(q) <= 1;
}

struct gs_drained *gs_drained_of(struct gs_queue *q)
{
    if (!q->drained && (q->drained = calloc(1, sizeof *q->drained)))
        atomic_init(&q->drained->refs, 1);
    return q->drained;
}

/* All that this call and those before it have enqueued there has ended, or else was waited for in vain: some of it has
 * failed. */
static void drained(struct gs_queue *q, struct gs_upto upto, bool well)
{
    pthread_mutex_lock(&q->o.ctx->lock);
    struct gs_drained *d = gs_drained_of(q);
    if (d)
        gs_has_drained(d, upto.call);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (well && !q->out_of_order)
        gs_units_over(q->o.handle, upto.order);
    else
        gs_units_look(0, q->o.handle, NULL);
}

void gs_queue_waits(int more)
{
    atomic_fetch_add(&gs_waiting, more);
}

struct gs_upto gs_queue_upto(struct gs_queue *q)
{
    return (struct gs_upto){.call = gs_queue_call(q), .order = atomic_load(&gs_deferred_order)};
}

void gs_queue_drained(struct gs_queue *q, struct gs_upto upto)
{
    drained(q, upto, true);
}

static atomic_int n_untied; /* commands */

void gs_untied(int more)
{
    atomic_fetch_add(&n_untied, more);
}

bool gs_queue_is_idle(struct gs_queue *q)
{
    const unsigned call = gs_queue_call(q);
    pthread_mutex_lock(&gs_deferred_lock);
    const struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const bool idle = gs_is_drained(q, call) && (!h || h->served);
    pthread_mutex_unlock(&gs_deferred_lock);
    return idle;
}

bool gs_queue_is_empty(struct gs_queue *q, bool of_this_call)
{
    const unsigned call = gs_queue_call(q);
    if (q->out_of_order || !q->drained || !gs_scheduled() ||
        !(of_this_call ? gs_is_drained(q, call) : drained_upto(q) == call))
        return false;
    pthread_mutex_lock(&gs_deferred_lock);
    const bool empty = !gs_deferred_last_in(q->o.handle);
    pthread_mutex_unlock(&gs_deferred_lock);
    return empty;
}

/* The units under way that there is an end to be seen of: they are looked at. */
static void look_at_units(struct gs_deferred *h, cl_event complete)
{
    const void *units[GS_AWAITED];
    pthread_mutex_lock(&gs_deferred_lock);
    memcpy(units, h->awaited, sizeof units);
    pthread_mutex_unlock(&gs_deferred_lock);
    for (unsigned i = 0; i < GS_AWAITED; i++)
        if (units[i])
            gs_completion_now(units[i], complete);
}

static bool is_over(struct gs_deferred *h, bool wait)
{
    pthread_mutex_lock(&gs_deferred_lock);
    while (wait && !h->over)
        pthread_cond_wait(&gs_deferred_changed, &gs_deferred_lock);
    const bool over = h->over;
    pthread_mutex_unlock(&gs_deferred_lock);
    return over;
}

/* Waits for the last units of a command of several, once they are on their way, and sees to their ends: the thread that
 * looks for ends comes later. One by one: NVIDIA's driver takes twice as long for a list of several queues' events. */
static void await_units(struct gs_deferred *h)
{
    cl_event last[GS_UNIT_QUEUES + 1];
    cl_uint n = 0;
    pthread_mutex_lock(&gs_deferred_lock);
    while (!h->served)
        pthread_cond_wait(&gs_deferred_changed, &gs_deferred_lock);
    /* When the one that was enqueued last ends the others mostly have. */
    for (unsigned i = 0; i < GS_UNIT_QUEUES; i++) {
        cl_event event = h->last[(h->newest + i) % GS_UNIT_QUEUES];
        if (event)
            last[n++] = event;
    }
    last[n++] = h->first;
    pthread_mutex_unlock(&gs_deferred_lock);
    for (cl_uint i = 0; i < n && !is_over(h, false) && atomic_load(&h->status) == CL_COMPLETE; i++) {
        const cl_int err = gs_real()->clWaitForEvents(1, &last[i]); /* as long as the command is held they are */
        look_at_units(h, err ? NULL : last[i]);
    }
    is_over(h, true); /* another thread may be about to see the last of them */
}

/* Is it over within the time that a unit may take? */
static bool ends_soon(struct gs_deferred *h)
{
    enum { PAUSE_NS = 2000 };
    const uint64_t until = gs_now_ns() + GS_BATCH_SOLE_NS;
    for (uint64_t now = 0; !is_over(h, false) && now < until;) {
        const uint64_t next = gs_now_ns() + PAUSE_NS;
        look_at_units(h, NULL);
        while ((now = gs_now_ns()) < next)
            ;
    }
    return is_over(h, false);
}

/* What comes next in its queue comes after all of its units. */
static void tie(struct gs_deferred *h)
{
    const bool ended = h->may_be_awaited && ends_soon(h);
    cl_event marker, end = ended ? NULL : gs_deferred_user_event(h); /* it ends with the command */
    const bool tied = end && gs_real()->clEnqueueMarkerWithWaitList(h->home, 1, &end, &marker) == CL_SUCCESS;
    if (tied) {
        gs_job_add(marker); /* one that fails must be somebody's: PoCL (3.1) uses it once more after its end */
        gs_real()->clReleaseEvent(marker);
        gs_real()->clFlush(h->home);
    } else if (!ended) {
        gs_drop_event(end);
        await_units(h);
    }
    pthread_mutex_lock(&gs_deferred_lock);
    if (tied)
        h->end = end;
    if (h->untied)
        gs_untied(-1);
    h->untied = h->tying = false;
    const bool over = h->over;
    pthread_cond_broadcast(&gs_deferred_changed);
    pthread_mutex_unlock(&gs_deferred_lock);
    if (tied && over)
        gs_event_end(end, atomic_load(&h->status));
}

void gs_queue_close(cl_command_queue queue)
{
    if (!gs_job_is_loose() && !atomic_load(&n_untied))
        return;
    pthread_mutex_lock(&gs_deferred_lock);
    struct gs_deferred *h;
    while ((h = gs_deferred_last_in(queue)) && h->tying)
        pthread_cond_wait(&gs_deferred_changed, &gs_deferred_lock);
    const bool open = h && h->units.n == 1 && (h->loose || h->joining) && gs_deferred_keep(h);
    const bool untied = h && h->untied && gs_deferred_keep(h); /* as long as it isn't over */
    if (untied)
        h->tying = true;
    pthread_mutex_unlock(&gs_deferred_lock);
    if (open)
        gs_unit_close(h);
    if (untied)
        tie(h);
    if (open || untied)
        gs_deferred_drop(h);
}

void gs_queue_leave(cl_command_queue queue)
{
    gs_queue_close(queue);
    pthread_mutex_lock(&gs_deferred_lock);
    bool any = false;
    for (struct gs_deferred *h = gs_deferred_oldest; h;) {
        if (h->home == queue && h->closing) {
            pthread_cond_wait(&gs_deferred_changed, &gs_deferred_lock);
            h = gs_deferred_oldest;
            continue;
        }
        if (h->home == queue)
            any = h->closed = h->sent = true;
        h = h->newer;
    }
    pthread_mutex_unlock(&gs_deferred_lock);
    if (any)
        gs_real()->clFlush(queue);
}

bool gs_queue_await(struct gs_queue *q, bool of_several, struct gs_deferred **over)
{
    cl_event last = NULL;
    *over = NULL;
    pthread_mutex_lock(&q->o.ctx->lock); /* who changes what comes last has it */
    const struct gs_upto upto = gs_queue_upto(q);
    pthread_mutex_lock(&gs_deferred_lock);
    struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const bool idle = gs_is_drained(q, upto.call) && (!h || h->served);
    const bool several = h && gs_is_several(h);
    const bool known = !idle && h && (several || !of_several) && upto.call - h->call <= 1 && gs_deferred_keep(h);
    if (known && several)
        last = h->end; /* null: it is untied */
    pthread_mutex_unlock(&gs_deferred_lock);
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
    if (several && !last) /* nobody waits for it but who is asked to let it go */
        *over = h;
    else
        gs_deferred_drop(h);
    gs_queue_waits(1);
    const cl_int err = last ? gs_real()->clWaitForEvents(1, &last) : CL_SUCCESS; /* however it ends */
    gs_queue_waits(-1);
    drained(q, upto, !err);
    gs_drop_event(last);
    return true;
}

void gs_deferred_let(struct gs_deferred *over)
{
    if (over)
        gs_deferred_drop(over);
}
