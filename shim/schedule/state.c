/* SPDX-License-Identifier: MIT */
#include "shim/schedule/state.h"

#include <pthread.h>

#include "common/lock/rank.h"
#include "shim/schedule/deferred.h"

#define TO(state) (1u << GS_##state)

/* What may follow, a bit each. */
static const unsigned after[GS_DEFERRED_STATES] = {
    [GS_PREPARED] = TO(ENQUEUED),
    [GS_ENQUEUED] = TO(READY) | TO(SERVED),
    [GS_READY] = TO(ENQUEUED) /* its first unit is granted, and the others wait for what came before */ | TO(SERVED),
    [GS_SERVED] = TO(OVER),
};

static const unsigned sharing_after[GS_SHARINGS] = {
    [GS_SHARE_OPEN] = TO(SHARE_JOINING) | TO(SHARE_LAST_JOINS) | TO(SHARE_CLOSED) | TO(SHARE_SENT),
    [GS_SHARE_JOINING] = TO(SHARE_OPEN) | TO(SHARE_LAST_JOINS),
    [GS_SHARE_LAST_JOINS] = TO(SHARE_CLOSED),
    [GS_SHARE_CLOSED] = TO(SHARE_CLOSING) | TO(SHARE_SENT),
    [GS_SHARE_CLOSING] = TO(SHARE_CLOSED) | TO(SHARE_SENT),
    [GS_SHARE_SENT] = TO(SHARE_CLOSING) | TO(SHARE_SENT),
};

static const unsigned unit_after[GS_UNIT_STATES] = {
    [GS_UNIT_QUEUED] = TO(UNIT_ASKED) | TO(UNIT_GRANTED),
    [GS_UNIT_ASKED] = TO(UNIT_QUEUED) /* given up: another one is to be served first */ | TO(UNIT_GRANTED),
    [GS_UNIT_GRANTED] = TO(UNIT_QUEUED) | TO(UNIT_SUBMITTED) | TO(UNIT_FAILED),
    [GS_UNIT_SUBMITTED] = TO(UNIT_COMPLETE) | TO(UNIT_FAILED),
};

static bool has_grant(enum gs_unit_state state)
{
    return state == GS_UNIT_GRANTED || state == GS_UNIT_SUBMITTED;
}

void gs_unit_to(struct gs_unit *u, enum gs_unit_state to)
{
    const enum gs_unit_state from = atomic_exchange(&u->state, to);
    GS_CHECK(unit_after[from] >> to & 1, "a unit's state", from, to);
    GS_NOTE("unit %p %d %d", (void *)u, (int)from, (int)to);
    if (has_grant(from) && !has_grant(to))
        gs_unit_give(u);
}

void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to)
{
    GS_CHECK(after[h->state] >> to & 1, "a deferred command's state", h->state, to);
    GS_NOTE("command %p %d %d %d", (void *)h, (int)h->state, (int)to, atomic_load(&h->status));
    h->state = to;
    pthread_cond_broadcast(&gs_deferred_list.changed);
}

void gs_share_to(struct gs_deferred *h, enum gs_sharing to)
{
    GS_CHECK(sharing_after[h->sharing] >> to & 1, "the sharing of a unit", h->sharing, to);
    GS_NOTE("sharing %p %d %d", (void *)h, (int)h->sharing, (int)to);
    h->sharing = to;
    pthread_cond_broadcast(&gs_deferred_list.changed);
}

void gs_share_close(struct gs_deferred *h)
{
    if (h->sharing == GS_SHARE_OPEN)
        gs_share_to(h, GS_SHARE_CLOSED);
    else if (h->sharing == GS_SHARE_JOINING)
        gs_share_to(h, GS_SHARE_LAST_JOINS);
}
