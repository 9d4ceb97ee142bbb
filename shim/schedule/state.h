/* SPDX-License-Identifier: MIT */
/* The states of a deferred command, and of its unit where others may share it; state.c says which may follow which, and
 * has the table from a shared unit's state and an event to the next state, and to what is done. Both change with
 * gs_deferred_list.lock held, and gs_deferred_list.changed tells who waits. Those of each unit are in
 * shim/client/unit.h.
 *
 *   PREPARED --> ENQUEUED --> SERVED --> OVER        of the command
 *
 *   JOINING <--> OPEN --> LAST_JOINS --> CLOSED <--> CLOSING --> SENT        of a unit that others may share
 *                 '------------------------^
 */
#ifndef GS_SHIM_SCHEDULE_STATE_H
#define GS_SHIM_SCHEDULE_STATE_H

#include <stdbool.h>

#include "shim/client/unit.h"

struct gs_deferred;

enum gs_deferred_state {
    GS_PREPARED, /* no unit of it is enqueued; it is in no list */
    GS_ENQUEUED, /* its first unit is, behind a gate unless it is granted */
    GS_SERVED,   /* all its units are on their way, or it has failed */
    GS_OVER      /* all that were on their way have ended */
};

enum gs_sharing {
    GS_SHARE_OPEN,       /* a launch that comes right after it may join */
    GS_SHARE_JOINING,    /* one is about to be enqueued, by who holds the context's lock */
    GS_SHARE_LAST_JOINS, /* the same, and none after it */
    GS_SHARE_CLOSED,     /* none may join. So is a command that nothing may share */
    GS_SHARE_CLOSING,    /* a thread enqueues the marker that ends it, or sends it off */
    GS_SHARE_SENT,       /* it has been sent off, or will be without us */
    GS_SHARINGS
};

enum gs_share_event {
    GS_SHARE_JOIN,
    GS_SHARE_JOIN_LAST,
    GS_SHARE_JOINED,  /* that one is enqueued, or refused */
    GS_SHARE_CLOSE,   /* no more may join, but for one that is about to */
    GS_SHARE_SETTLE,  /* the same, and no thread is about to do anything */
    GS_SHARE_TIE,     /* a marker is to be enqueued behind it; ... */
    GS_SHARE_TIED,    /* ... it is */
    GS_SHARE_SEND,    /* it is to be sent off; ... */
    GS_SHARE_IS_SENT, /* ... it is */
    GS_SHARE_LEAVE,   /* it has ended, or its queue sends it off */
    GS_SHARE_EVENTS
};

enum gs_share_action {
    GS_SHARE_WAIT = 1, /* for another thread, and look again */
    GS_SHARE_STAYS,    /* there is nothing to do */
    GS_SHARE_DO        /* whoever has asked does it, and says so */
};

/* It is in that state from now on. What must not happen is reported where locks are checked (common/lock/rank.h). */
void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to);

/* Takes the event to state.c's table, once no other thread is to be waited for; meanwhile the list's lock is open, and
 * h is to be held. True: the caller is to do what it has asked for. */
bool gs_share_on(struct gs_deferred *h, enum gs_share_event event);

/* Would another thread be waited for? */
bool gs_share_waits(const struct gs_deferred *h, enum gs_share_event event);

/* Is one about to? */
static inline bool gs_share_is_joining(enum gs_sharing sharing)
{
    return sharing == GS_SHARE_JOINING || sharing == GS_SHARE_LAST_JOINS;
}

#endif
