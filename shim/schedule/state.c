/* SPDX-License-Identifier: MIT */
#include "shim/schedule/state.h"

#include <pthread.h>

#include "common/lock/rank.h"
#include "shim/schedule/deferred.h"

/* In all three tables: what is left out must not happen. */
static const struct {
    bool may;
    enum gs_deferred_state to;
} deferred_on[GS_DEFERRED_STATES][GS_DEFERRED_EVENTS] = {
    [GS_PREPARED] = {[GS_ENQUEUE] = {true, GS_ENQUEUED}},
    [GS_ENQUEUED] = {[GS_COULD_RUN] = {true, GS_READY}, [GS_SERVE] = {true, GS_SERVED}},
    [GS_READY] = {[GS_REST_WAITS] = {true, GS_ENQUEUED}, [GS_SERVE] = {true, GS_SERVED}},
    [GS_SERVED] = {[GS_ALL_ENDED] = {true, GS_OVER}},
};

enum unit_action { STAYS = 1, GIVES_BACK };

static const struct {
    enum unit_action action;
    enum gs_unit_state to;
} unit_on[GS_UNIT_STATES][GS_UNIT_EVENTS] = {
    [GS_UNIT_QUEUED] = {[GS_UNIT_ASK] = {STAYS, GS_UNIT_ASKED}, [GS_UNIT_GRANT] = {STAYS, GS_UNIT_GRANTED}},
    [GS_UNIT_ASKED] = {[GS_UNIT_FORGET] = {STAYS, GS_UNIT_QUEUED}, [GS_UNIT_GRANT] = {STAYS, GS_UNIT_GRANTED}},
    [GS_UNIT_GRANTED] = {[GS_UNIT_FORGET] = {GIVES_BACK, GS_UNIT_QUEUED},
                         [GS_UNIT_SUBMIT] = {STAYS, GS_UNIT_SUBMITTED},
                         [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
    [GS_UNIT_SUBMITTED] =
        {[GS_UNIT_COMPLETES] = {GIVES_BACK, GS_UNIT_COMPLETE}, [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
};

#define ON(event, state, action) [GS_SHARE_##event] = {GS_SHARE_##state, GS_SHARE_##action}

static const struct {
    enum gs_sharing to;
    enum gs_share_action action;
} on[GS_SHARINGS][GS_SHARE_EVENTS] = {
    [GS_SHARE_OPEN] = {ON(JOIN, JOINING, DO), ON(JOIN_LAST, LAST_JOINS, DO), ON(CLOSE, CLOSED, STAYS),
                       ON(SETTLE, CLOSED, STAYS), ON(SEND, OPEN, STAYS), ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_JOINING] = {ON(JOINED, OPEN, STAYS), ON(CLOSE, LAST_JOINS, STAYS), ON(SETTLE, JOINING, WAIT),
                          ON(SEND, JOINING, STAYS), ON(LEAVE, JOINING, WAIT)},
    [GS_SHARE_LAST_JOINS] = {ON(JOINED, CLOSED, STAYS), ON(CLOSE, LAST_JOINS, STAYS), ON(SETTLE, LAST_JOINS, WAIT),
                             ON(SEND, LAST_JOINS, STAYS), ON(LEAVE, LAST_JOINS, WAIT)},
    [GS_SHARE_CLOSED] = {ON(CLOSE, CLOSED, STAYS), ON(SETTLE, CLOSED, STAYS), ON(TIE, CLOSING, DO),
                         ON(SEND, CLOSING, DO), ON(LEAVE, SENT, STAYS)},
    [GS_SHARE_CLOSING] = {ON(CLOSE, CLOSING, STAYS), ON(SETTLE, CLOSING, WAIT), ON(TIED, CLOSED, STAYS),
                          ON(SEND, CLOSING, WAIT), ON(IS_SENT, SENT, STAYS), ON(LEAVE, CLOSING, WAIT)},
    [GS_SHARE_SENT] = {ON(CLOSE, SENT, STAYS), ON(SETTLE, SENT, STAYS), ON(TIE, CLOSING, DO), ON(SEND, SENT, STAYS),
                       ON(LEAVE, SENT, STAYS)},
};

void gs_unit_on(struct gs_unit *u, enum gs_unit_event event)
{
    enum gs_unit_state from = atomic_load(&u->state);
    while (unit_on[from][event].action && !atomic_compare_exchange_weak(&u->state, &from, unit_on[from][event].to))
        ;
    GS_CHECK(unit_on[from][event].action, "a unit's state", from, event);
    if (!unit_on[from][event].action)
        return;
    GS_NOTE("unit %p %d %d", (void *)u, (int)from, (int)unit_on[from][event].to);
    if (unit_on[from][event].action == GIVES_BACK)
        gs_unit_give(u);
}

void gs_deferred_on(struct gs_deferred *h, enum gs_deferred_event event)
{
    const enum gs_deferred_state from = h->state;
    GS_CHECK(deferred_on[from][event].may, "a deferred command's state", from, event);
    if (!deferred_on[from][event].may)
        return;
    h->state = deferred_on[from][event].to;
    GS_NOTE("command %p %d %d %d", (void *)h, (int)from, (int)h->state, atomic_load(&h->status));
    pthread_cond_broadcast(&gs_deferred_list.changed);
}

bool gs_share_waits(const struct gs_deferred *h, enum gs_share_event event)
{
    return on[h->sharing][event].action == GS_SHARE_WAIT;
}

bool gs_share_on(struct gs_deferred *h, enum gs_share_event event)
{
    while (gs_share_waits(h, event))
        pthread_cond_wait(&gs_deferred_list.changed, &gs_deferred_list.lock);
    const enum gs_sharing from = h->sharing, to = on[from][event].to;
    GS_CHECK(on[from][event].action, "the sharing of a unit", from, event);
    if (to == from || !on[from][event].action)
        return false;
    GS_NOTE("sharing %p %d %d", (void *)h, (int)from, (int)to);
    h->sharing = to;
    pthread_cond_broadcast(&gs_deferred_list.changed);
    return on[from][event].action == GS_SHARE_DO;
}
