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

void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to)
{
    GS_CHECK(after[h->state] >> to & 1, "a deferred command's state", h->state, to);
    h->state = to;
    pthread_cond_broadcast(&gs_deferred_changed);
}

void gs_share_to(struct gs_deferred *h, enum gs_sharing to)
{
    GS_CHECK(sharing_after[h->sharing] >> to & 1, "the sharing of a unit", h->sharing, to);
    h->sharing = to;
    pthread_cond_broadcast(&gs_deferred_changed);
}

void gs_share_close(struct gs_deferred *h)
{
    if (h->sharing == GS_SHARE_OPEN)
        gs_share_to(h, GS_SHARE_CLOSED);
    else if (h->sharing == GS_SHARE_JOINING)
        gs_share_to(h, GS_SHARE_LAST_JOINS);
}
