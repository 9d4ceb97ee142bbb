/* SPDX-License-Identifier: MIT */
#include "shim/schedule/dispatch.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/memory.h"
#include "shim/events/gates.h"
#include "shim/schedule/deferred.h"

cl_int gs_enqueue_unit(void *op, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event)
{
    (void)unit;
    return gs_enqueue(op, queue, n_wait, wait, event);
}

/* Does a command with this number come right after `before`, on the same resource? Any other command between them has a
 * number too, such as a marker with a wait list, and so ends the chain. With gs_deferred_list.lock held. */
static bool is_next(const struct gs_deferred *before, unsigned resource, unsigned call)
{
    return before && before->units.resource == resource && call - before->call <= 1;
}

/* The command isn't enqueued: gives back the first unit, if that was granted. The gate opens all the same: NVIDIA's
 * driver leaves the wait for a refused command's wait list in the queue. */
static void take_back(struct gs_deferred *h)
{
    if (gs_is_taken(h))
        gs_unit_on(h->unit, GS_UNIT_FORGET);
    if (h->open)
        gs_event_end(h->open, CL_COMPLETE);
    if (h->end)
        gs_event_end(h->end, CL_COMPLETE);
    gs_worker_undo(h);
}

/* The expected length of each of the command's units. */
static enum gs_length length_of(const struct gs_deferred *h)
{
    if (h->units.pieces)
        return GS_LENGTH_PIECE;
    return h->batch.expected_ns && h->batch.expected_ns <= GS_BATCH_SOLE_NS ? GS_LENGTH_UNIT : GS_LENGTH_UNKNOWN;
}

/* Takes the first unit if it can be had at once. If this process has no other command under way, the call waits a
 * moment, so that the command needs no gate: on an H200, behind another process's chunks, a gate and the wait for the
 * event behind it took 80 us, at times 300; and a command behind a gate takes the GPU from others for 0.2 ms. */
static bool try_unit(struct gs_deferred *h, bool idle)
{
    enum { MOST_NS = 1000 * 1000 };
    const enum gs_length length = length_of(h);
    if (gs_unit_try(h->unit, h->units.resource, length))
        return true;
    gs_units_look(h->units.resource, NULL);
    if (gs_unit_try(h->unit, h->units.resource, length))
        return true;
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool only = idle && !gs_deferred_list.oldest;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    GS_MAY_WAIT("a first unit's grant", 1 * GS_MS);
    return only && gs_worker_request(h, MOST_NS);
}

/* May a unit be held while its command can't run yet? Yes if no other application is connected, and all commands before
 * (in queue and wait list) have their units, and so will end. With gs_deferred_list.lock held. */
static bool may_at_will(const struct gs_deferred *h)
{
    return gs_app_is_sole() && gs_is_in_order(&h->units) && !atomic_load(&h->units.q->o.ctx->user_events) &&
           gs_deferred_all_served();
}

/* Takes the first unit if the command could run now, or stands behind nothing but running units of ours. `may_chain`:
 * the queue is in-order, and the wait list has no unended event but the queue's last. Sets ready_at: a first unit that
 * is granted, or right behind a command that gets its units first, needs no more than the queue's order. */
static void take_now(struct gs_deferred *h, bool may_chain)
{
    const bool ours = h->units.queue != h->units.q->o.handle;
    pthread_mutex_lock(&gs_deferred_list.lock);
    struct gs_deferred *before = may_chain ? gs_deferred_last_in(h->units.queue) : NULL;
    const bool kept = before && gs_deferred_keep(before), served = !before || gs_is_served(before);
    /* A call may enqueue several commands, and another thread's may have come in between: nothing may wait behind a
     * gate. (In a queue of ours gate, marker and thread took 30 us of the 70 of each piece of the ring, on an H200.) */
    const bool idle = may_chain && (ours ? !before : gs_queue_is_drained(h->units.q, before));
    const bool next = is_next(before, h->units.resource, h->call);
    const bool now = idle || (next ? served : may_at_will(h));
    pthread_mutex_unlock(&gs_deferred_list.lock);
    const bool taken = now && try_unit(h, idle && !ours);
    h->ready_at = idle ? h->units.n : next || taken;
    if (!kept)
        return;
    h->behind = !taken && before->first && gs_event_status(before->first) > CL_COMPLETE;
    if (h->behind)
        h->before = before;
    else
        gs_deferred_drop(before);
}

/* Keeps the queues until the command is served. A command that is served before the call returns needs no such care,
 * and NVIDIA's driver takes 2 to 6 us to release a queue. */
static cl_int keep_queues(struct gs_deferred *h)
{
    if (gs_is_taken(h) && !gs_has_units(h))
        return CL_SUCCESS;
    const cl_int err = gs_real()->clRetainCommandQueue(h->units.queue);
    if (err)
        return err;
    gs_hold(&h->units.q->o);
    h->keeps = true;
    return CL_SUCCESS;
}

/* Makes the command's events. `ready` is a marker behind all earlier commands and the wait list. */
static cl_int make(struct gs_deferred *h)
{
    const struct gs_units *to = &h->units;
    cl_int err = CL_SUCCESS;
    if (h->ready_at < h->units.n)
        err = gs_mark_out_of_order(to->q, to->queue, to->n_wait, to->wait, &h->ready);
    if (!err && !gs_is_taken(h))
        h->open = gs_gate_new(to->q->o.ctx->o.handle, &err);
    if (!err && gs_has_units(h)) {
        h->record = gs_event_new(to->q->o.ctx, &(struct gs_event){.user = true}, &err);
        h->end = err ? NULL : h->record->o.handle;
    }
    return err ? err : keep_queues(h);
}

/* Does the wait list have an unended event other than the last in the queue, or one that the driver would refuse? */
static bool waits_for_others(const struct gs_units *to)
{
    bool waits = false;
    for (cl_uint i = 0; i < to->n_wait && !waits; i++)
        waits = (gs_event_status(to->wait[i]) != CL_COMPLETE && !gs_is_last_event(to->queue, to->wait[i])) ||
                gs_event_context(to->wait[i]) != to->q->o.ctx->o.handle;
    return waits;
}

/* How long a unit of short commands may be. While others of this application are out, the next would need a gate, which
 * is slow with NVIDIA's driver: so the unit may be longer. */
static uint64_t most_of_unit_ns(unsigned resource, bool granted)
{
    if (gs_app_is_sole())
        return GS_BATCH_SOLE_NS;
    const struct gs_client *c = gs_process.client;
    return granted && c && gs_client_own_out(c, resource, GS_LENGTH_UNKNOWN) ? GS_BATCH_ALONE_NS : GS_BATCH_NS;
}

/* Lets a launch join the unit of the command before, if that unit is granted or its gate opens with the grant. Returns
 * the unit's command, held; null: no. *full: no further launch fits. */
static struct gs_deferred *join(const struct gs_units *to, uint64_t now, bool *full)
{
    const unsigned call = gs_timeline_newest(to->q->timeline);
    GS_LOCKED(&gs_deferred_list.lock);
    struct gs_deferred *h = gs_deferred_last_in(to->queue);
    const bool granted = h && gs_unit_is(h->unit, GS_UNIT_SUBMITTED);
    const uint64_t most_ns = most_of_unit_ns(to->resource, granted);
    const bool late = granted && now >= h->unit->grant.begin_ns + most_ns;
    const bool may = is_next(h, to->resource, call) && gs_share_is_open(h) && !late &&
                     gs_batch_add(&h->batch, to->size, most_ns, full) && gs_deferred_keep(h);
    if (may) {
        gs_share_on(h, *full ? GS_SHARE_JOIN_LAST : GS_SHARE_JOIN);
        h->joined_ns = now;
    }
    return may ? h : NULL;
}

/* The launch that joined is enqueued, with `event` (taken over) or without, or was refused. True: none may follow. */
static bool joined(struct gs_deferred *h, cl_event event)
{
    cl_event old = NULL;
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool closed = gs_share_on(h, event ? GS_SHARE_JOINED : GS_SHARE_JOINED_LOOSE);
    h->call = gs_timeline_enqueue(h->timeline);
    if (event) {
        old = h->tail;
        h->tail = event;
    }
    pthread_mutex_unlock(&gs_deferred_list.lock);
    GS_RELEASE(Event, old);
    gs_deferred_drop(h);
    return closed;
}

/* Prepares a command. NULL with the error in *err: of the wait list, or there was no memory. */
static struct gs_deferred *hold_back(const struct gs_units *units, bool may_chain, cl_int *err)
{
    gs_queue_close(units->queue);
    struct gs_deferred *h = gs_zeroed(sizeof *h + units->n * sizeof *h->unit);
    *err = h ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!h)
        return NULL;
    atomic_init(&h->refs, 1);
    atomic_init(&h->left, 1);
    h->units = *units;
    GS_NOTE("new %p %p %d %u %p %zu", (void *)h, (void *)units->queue, gs_is_in_order(units), units->n, (void *)h->unit,
            sizeof *h->unit);
    if (h->units.spent)
        atomic_fetch_add(&h->units.spent->refs, 1);
    bool full = true;
    if (h->units.n == 1)
        gs_batch_add(&h->batch, h->units.size, most_of_unit_ns(units->resource, false), &full);
    h->sharing = full || units->queue != units->q->o.handle ? GS_SHARE_CLOSED : GS_SHARE_OPEN;
    h->call = gs_timeline_newest(units->q->timeline);
    h->label = gs_label;
    take_now(h, may_chain);
    /* A unit opens the gate, perhaps one that is granted when an open unit ends. That open unit's marker, which another
     * thread may be enqueueing, must come before the gate. */
    if (!gs_is_taken(h) && atomic_load(&gs_deferred_list.loose))
        gs_units_await();
    *err = make(h);
    if (*err) {
        take_back(h);
        gs_deferred_drop(h);
        return NULL;
    }
    GS_NOTE("made %p %p %p %d", (void *)h, (void *)h->open, (void *)h->end, h->behind);
    return h;
}

/* The first unit is enqueued, with the event `first` or without (null): a marker is enqueued later if the unit's end is
 * asked for (close_unit in unit_ends.c). *end, unless `end` is null, is the caller's: the event of the last unit. */
static void let_go(struct gs_deferred *h, cl_event first, cl_event *end)
{
    cl_command_queue home = h->units.queue;
    /* others are flushed by gs_worker_take, or once their unit is closed */
    const bool sends = !gs_is_taken(h) || (!gs_has_units(h) && h->sharing == GS_SHARE_CLOSED);
    if (home == h->units.q->o.handle && gs_is_in_order(&h->units))
        h->timeline = gs_timeline_hold(h->units.q->timeline);
    h->first = first;
    if (!first)
        gs_share_on(h, GS_SHARE_JOINED_LOOSE);
    cl_event own = gs_has_units(h) ? h->end : first;
    if (end)
        gs_real()->clRetainEvent(*end = own);
    if (own)
        gs_job_add(own);
    h->joined_ns = gs_now_ns();
    gs_worker_take(h);
    if (sends)
        gs_real()->clFlush(home);
}

/* Is the error of the wait list that the application gave? Then the driver says so when it gets the command. Other
 * errors mean no memory, and the command can't be enqueued without its unit. */
static bool is_of_wait_list(cl_int err)
{
    return err == CL_INVALID_EVENT_WAIT_LIST || err == CL_INVALID_EVENT || err == CL_INVALID_CONTEXT;
}

/* A command with units of its own. Its first unit waits for the gate alone, if there is one. */
static cl_int run_apart(const struct gs_units *units, bool may_chain, cl_event *end)
{
    cl_int err;
    cl_event first = NULL;
    struct gs_deferred *h = hold_back(units, may_chain, &err);
    if (!h)
        return units->n == 1 && is_of_wait_list(err)
                   ? units->enqueue(units->work, 0, units->queue, units->n_wait, units->wait, end)
                   : err;
    /* While no other application is connected, the first launch of a shared unit needs no event of its own until the
     * unit's end is asked for. An event makes each launch take NVIDIA's driver 4 us more. */
    const bool needs_event = end || h->sharing != GS_SHARE_OPEN || !gs_is_taken(h) || !gs_app_is_sole();
    err = units->enqueue(units->work, 0, units->queue, h->open ? 1 : units->n_wait, h->open ? &h->open : units->wait,
                         needs_event ? &first : NULL);
    if (!err) {
        let_go(h, first, end);
    } else { /* the units' work stays the caller's */
        take_back(h);
        gs_deferred_finish(h);
    }
    return err;
}

/* A launch that joins h's unit, the last one if `full`. The last one's event, or a marker, tells of the unit's end. */
static cl_int run_joined(struct gs_deferred *h, const struct gs_units *units, bool full, cl_event *end)
{
    cl_event event = NULL;
    const cl_int err =
        units->enqueue(units->work, 0, units->queue, units->n_wait, units->wait, end || full ? &event : NULL);
    if (end && !err)
        gs_real()->clRetainEvent(*end = event);
    if (event)
        gs_job_add(event);
    /* While nobody waits for the unit's end, the queue isn't flushed: the thread that needs the next unit does so and
     * asks the driver. (Until the flush NVIDIA's driver carries a command out within the call that enqueues it.) */
    if (joined(h, event) && (!(gs_group()->type & CL_DEVICE_TYPE_GPU) || gs_units_wanted()))
        gs_real()->clFlush(units->queue);
    return err;
}

cl_int gs_run_units(const struct gs_units *units, cl_event *end)
{
    const uint64_t now = gs_now_ns();
    bool full = false;
    gs_workers_set_up();
    atomic_store_explicit(&gs_deferred_list.called_ns, now, memory_order_relaxed);
    const bool may_chain = gs_is_in_order(units) && !waits_for_others(units);
    const bool may_join = may_chain && units->queue == units->q->o.handle && units->n == 1 && units->size;
    struct gs_deferred *h = may_join ? join(units, now, &full) : NULL;
    return h ? run_joined(h, units, full, end) : run_apart(units, may_chain, end);
}
