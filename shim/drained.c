/* SPDX-License-Identifier: MIT */
#include "shim/held.h"

#include <stdlib.h>
#include <string.h>

#include "shim/command.h"
#include "shim/ends.h"

void gs_drained_drop(struct gs_drained *d)
{
    if (d && atomic_fetch_sub(&d->refs, 1) == 1)
        free(d);
}

void gs_has_drained(struct gs_drained *d, unsigned call)
{
    unsigned known = atomic_load(&d->call);
    while ((int)(call - known) > 0 && !atomic_compare_exchange_weak(&d->call, &known, call))
        ;
}

bool gs_is_drained(const struct gs_queue *q, unsigned call)
{
    return call - (q->drained ? atomic_load(&q->drained->call) : 0) <= 1;
}

struct gs_drained *gs_drained_of(struct gs_queue *q)
{
    if (!q->drained && (q->drained = calloc(1, sizeof *q->drained)))
        atomic_init(&q->drained->refs, 1);
    return q->drained;
}

/* All that this call and those before it have enqueued there has ended. */
static void close_ended(cl_command_queue queue, unsigned call)
{
    pthread_mutex_lock(&gs_held_lock);
    struct gs_held *h = gs_held_last_in(queue);
    if (h && h->units.n == 1 && !h->joining && !h->loose && (int)(h->call - call) <= 0)
        h->closed = true;
    pthread_mutex_unlock(&gs_held_lock);
}

void gs_queue_drained(struct gs_queue *q, unsigned call)
{
    pthread_mutex_lock(&q->o.ctx->lock);
    struct gs_drained *d = gs_drained_of(q);
    if (d)
        gs_has_drained(d, call);
    pthread_mutex_unlock(&q->o.ctx->lock);
    close_ended(q->o.handle, call);
    gs_units_look(0, q->o.handle);
}

void gs_queue_close(cl_command_queue queue)
{
    if (!gs_job_is_loose())
        return;
    pthread_mutex_lock(&gs_held_lock);
    struct gs_held *h = gs_held_last_in(queue);
    const bool open = h && h->units.n == 1 && (h->loose || h->joining) && gs_held_keep(h);
    pthread_mutex_unlock(&gs_held_lock);
    if (!open)
        return;
    gs_unit_close(h);
    gs_held_drop(h);
}

/* Waits for the last units of a command of several, once they are on their way, and sees to their ends: the thread that
 * looks for ends comes later, and a wait for the event that it then completes would come later still. */
static void await_units(struct gs_held *h)
{
    cl_event last[GS_UNIT_QUEUES + 1];
    const void *units[GS_AWAITED];
    cl_uint n = 0;
    pthread_mutex_lock(&gs_held_lock);
    while (!h->served)
        pthread_cond_wait(&gs_held_changed, &gs_held_lock);
    last[n++] = h->first;
    for (unsigned i = 0; i < GS_UNIT_QUEUES; i++)
        if (h->last[i])
            last[n++] = h->last[i];
    pthread_mutex_unlock(&gs_held_lock);
    if (atomic_load(&h->status) == CL_COMPLETE)
        gs_real()->clWaitForEvents(n, last); /* as long as it is held they are */
    pthread_mutex_lock(&gs_held_lock);
    memcpy(units, h->awaited, sizeof units);
    pthread_mutex_unlock(&gs_held_lock);
    for (unsigned i = 0; i < GS_AWAITED; i++)
        if (units[i])
            gs_ends_now(units[i]);
}

bool gs_queue_await(struct gs_queue *q, bool of_several)
{
    cl_event last = NULL;
    pthread_mutex_lock(&q->o.ctx->lock); /* who changes what comes last has it */
    const unsigned call = atomic_load(&q->calls);
    pthread_mutex_lock(&gs_held_lock);
    struct gs_held *h = gs_held_last_in(q->o.handle);
    const bool idle = gs_is_drained(q, call) && (!h || h->served);
    const bool known = !idle && h && (h->end || !of_several) && call - h->call <= 1 && gs_held_keep(h);
    pthread_mutex_unlock(&gs_held_lock);
    if (known && !h->end)
        gs_unit_close(h); /* so that its last event stays the last */
    if (known)
        gs_real()->clRetainEvent(last = h->end ? h->end : h->tail ? h->tail : h->first);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (!known)
        return idle;
    if (h->end)
        await_units(h);
    gs_held_drop(h);
    gs_real()->clFlush(q->o.handle);
    gs_real()->clWaitForEvents(1, &last); /* however it ends */
    gs_real()->clReleaseEvent(last);
    gs_queue_drained(q, call);
    return true;
}
