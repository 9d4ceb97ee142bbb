/* SPDX-License-Identifier: MIT */
#include "shim/schedule/deferred.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"

struct gs_deferred_list gs_deferred_list = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
GS_RANKED(gs_deferred_list.lock, GS_RANK_DEFERRED);

struct gs_taken *gs_taken_new(void)
{
    struct gs_taken *s = calloc(1, sizeof *s);
    if (s)
        atomic_init(&s->refs, 1);
    return s;
}

void gs_taken_drop(struct gs_taken *s)
{
    if (s && atomic_fetch_sub(&s->refs, 1) == 1)
        free(s);
}

void gs_deferred_set_error(struct gs_deferred *h, cl_int status)
{
    int none = CL_COMPLETE;
    atomic_compare_exchange_strong(&h->status, &none, status);
}

void gs_deferred_fail_with(const struct gs_deferred *before, struct gs_deferred *h)
{
    if (before && h && h->behind && gs_is_served(before) && !before->next_unit &&
        atomic_load(&before->status) != CL_COMPLETE)
        gs_deferred_set_error(h, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

static void unlist(struct gs_deferred *h)
{
    GS_LOCKED(&gs_deferred_list.lock);
    if (h->newer)
        h->newer->older = h->older;
    else if (gs_deferred_list.newest == h)
        gs_deferred_list.newest = h->older;
    if (h->older)
        h->older->newer = h->newer;
    else if (gs_deferred_list.oldest == h)
        gs_deferred_list.oldest = h->newer;
}

bool gs_deferred_insert(struct gs_deferred *h)
{
    GS_LOCKED(&gs_deferred_list.lock);
    struct gs_deferred *before = gs_deferred_last_in(h->units.queue);
    const bool follows =
        gs_is_in_order(&h->units) && before && !gs_is_taken(h) && !gs_is_served(before) && !before->follower;
    if (before)
        gs_share_on(before, GS_SHARE_CLOSE);
    gs_deferred_fail_with(before, h);
    gs_deferred_to(h, GS_ENQUEUED);
    if (follows)
        before->follower = h;
    h->older = gs_deferred_list.newest;
    if (gs_deferred_list.newest)
        gs_deferred_list.newest->newer = h;
    else
        gs_deferred_list.oldest = h;
    gs_deferred_list.newest = h;
    if (h->timeline)
        h->call = gs_timeline_enqueue(h->timeline);
    return follows;
}

struct gs_deferred *gs_deferred_last_in(cl_command_queue queue)
{
    struct gs_deferred *h = gs_deferred_list.newest;
    while (h && h->units.queue != queue)
        h = h->older;
    return h;
}

bool gs_queue_is_drained(struct gs_queue *q, const struct gs_deferred *last)
{
    const unsigned newest = gs_timeline_newest(q->timeline);
    const bool by_last = last && last->call == newest; /* whose call had the number before */
    return (!last || gs_is_served(last)) && gs_timeline_ended_before(q->timeline, by_last ? newest - 1 : newest);
}

bool gs_deferred_all_served(void)
{
    const struct gs_deferred *h = gs_deferred_list.oldest;
    while (h && gs_is_served(h))
        h = h->newer;
    return !h;
}

bool gs_is_last_event(cl_command_queue queue, cl_event event)
{
    GS_LOCKED(&gs_deferred_list.lock);
    const struct gs_deferred *h = gs_deferred_last_in(queue);
    return h && (event == h->first || event == h->end || event == h->tail);
}

bool gs_deferred_keep(struct gs_deferred *h)
{
    int refs = atomic_load(&h->refs);
    while (refs && !atomic_compare_exchange_weak(&h->refs, &refs, refs + 1))
        ;
    return refs;
}

void gs_deferred_drop(struct gs_deferred *h)
{
    if (atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    if (h->before)
        gs_deferred_drop(h->before);
    unlist(h);
    GS_NOTE("gone %p", (void *)h);
    if (h->timeline)
        gs_timeline_end(h->timeline, h->call);
    gs_timeline_drop(h->timeline);
    if (h->units.n > 1 && h->units.size && atomic_load(&h->status) == CL_COMPLETE && h->first)
        gs_chunk_learn(h->units.size, h->units.factor, h->units.n, h->units.groups, atomic_load(&h->took_ns));
    gs_taken_drop(h->units.spent);
    if (h->end) {
        if (h->record)
            gs_drop(&h->record->o); /* before the driver can give out the handle again */
        gs_real()->clReleaseEvent(h->end);
    }
    GS_RELEASE(Event, h->first);
    GS_RELEASE(Event, h->tail);
    GS_RELEASE(Event, h->ready);
    GS_RELEASE(Event, h->open);
    free(h);
}

void gs_deferred_done(struct gs_deferred *h)
{
    if (atomic_fetch_sub(&h->left, 1) != 1)
        return;
    pthread_mutex_lock(&gs_deferred_list.lock);
    gs_deferred_to(h, GS_OVER);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (h->end) /* at once, even if others still hold h; a single unit's event is the driver's */
        gs_event_end(h->end, atomic_load(&h->status));
}

void gs_deferred_finish(struct gs_deferred *h)
{
    struct gs_queue *q = h->keeps ? h->units.q : NULL;
    const cl_command_queue queue = h->units.queue;
    gs_deferred_drop(h);
    if (!q)
        return;
    gs_real()->clReleaseCommandQueue(queue);
    gs_drop(&q->o);
}

/* ---- the tables of states ---- */

#define ON(event, state, action) [GS_SHARE_##event] = {GS_SHARE_##state, GS_SHARE_##action}

/* What is missing in the table must not happen. */
static const struct {
    enum gs_sharing to;
    enum gs_share_action action;
} on[GS_SHARINGS][GS_SHARE_EVENTS] = {
    [GS_SHARE_OPEN] = {ON(JOIN, JOINING, DO), ON(JOIN_LAST, LAST_JOINS, DO), ON(JOINED_LOOSE, OPEN_LOOSE, STAYS),
                       ON(CLOSE, CLOSED, STAYS), ON(SETTLE, CLOSED, STAYS), ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_OPEN_LOOSE] = {ON(JOIN, JOINING, DO), ON(JOIN_LAST, LAST_JOINS, DO), ON(CLOSE, CLOSED_LOOSE, STAYS),
                             ON(SETTLE, TYING, DO), ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_JOINING] = {ON(JOINED, OPEN, STAYS), ON(JOINED_LOOSE, OPEN_LOOSE, STAYS), ON(CLOSE, LAST_JOINS, STAYS),
                          ON(SETTLE, JOINING, WAIT), ON(LEAVE, JOINING, WAIT)},
    [GS_SHARE_LAST_JOINS] = {ON(JOINED, CLOSED, DO), ON(JOINED_LOOSE, CLOSED_LOOSE, DO), ON(CLOSE, LAST_JOINS, STAYS),
                             ON(SETTLE, LAST_JOINS, WAIT), ON(LEAVE, LAST_JOINS, WAIT)},
    [GS_SHARE_CLOSED_LOOSE] = {ON(CLOSE, CLOSED_LOOSE, STAYS), ON(SETTLE, TYING, DO), ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_TYING] = {ON(CLOSE, TYING, STAYS), ON(SETTLE, TYING, WAIT), ON(SEND, TYING, WAIT),
                        ON(DONE, CLOSED, STAYS), ON(REFUSED, CLOSED_LOOSE, STAYS), ON(LEAVE, TYING, WAIT)},
    [GS_SHARE_CLOSED] = {ON(CLOSE, CLOSED, STAYS), ON(SETTLE, CLOSED, STAYS), ON(SEND, SENDING, DO),
                         ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_SENDING] = {ON(CLOSE, SENDING, STAYS), ON(SETTLE, SENDING, WAIT), ON(SEND, SENDING, WAIT),
                          ON(DONE, SENT, STAYS), ON(LEAVE, SENDING, WAIT)},
    [GS_SHARE_SENT] = {ON(CLOSE, SENT, STAYS), ON(SETTLE, SENT, STAYS), ON(SEND, SENT, STAYS), ON(LEAVE, SENT, STAYS)},
};

void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to)
{
    GS_CHECK(to == h->state + 1, "a deferred command's state", h->state, to);
    GS_NOTE("command %p %d %d %d", (void *)h, (int)h->state, (int)to, atomic_load(&h->status));
    h->state = to;
    pthread_cond_broadcast(&gs_deferred_list.changed);
}

bool gs_share_waits(const struct gs_deferred *h, enum gs_share_event event)
{
    return on[h->sharing][event].action == GS_SHARE_WAIT;
}

bool gs_share_on(struct gs_deferred *h, enum gs_share_event event)
{
    while (gs_share_waits(h, event)) {
        GS_MAY_WAIT("a thread that enqueues a launch or a marker, or flushes", 10 * GS_MS);
        pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
    }
    const enum gs_sharing from = h->sharing, to = on[from][event].to;
    GS_CHECK(on[from][event].action, "the sharing of a unit", from, event);
    if (to == from || !on[from][event].action)
        return false;
    GS_NOTE("sharing %p %d %d", (void *)h, (int)from, (int)to);
    const bool was_loose = gs_share_is_loose(h);
    h->sharing = to;
    if (gs_share_is_loose(h) != was_loose)
        atomic_fetch_add(&gs_deferred_list.loose, was_loose ? -1 : 1);
    pthread_cond_broadcast(&gs_deferred_list.changed);
    return on[from][event].action == GS_SHARE_DO;
}
