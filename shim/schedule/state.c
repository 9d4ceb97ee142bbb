/* SPDX-License-Identifier: MIT */

#include <pthread.h>

#include "common/lock/rank.h"
#include "shim/schedule/deferred.h"

#define ON(event, state, action) [GS_SHARE_##event] = {GS_SHARE_##state, GS_SHARE_##action}

/* What is left out must not happen. */
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
