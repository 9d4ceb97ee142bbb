/* SPDX-License-Identifier: MIT */
/* The states of a unit; unit.c has the table from state and event to the next state.
 *
 *   QUEUED <--> GRANTED --> SUBMITTED --> COMPLETE or FAILED
 *                  '-------------------------------^
 */
#ifndef GS_SHIM_CLIENT_UNIT_H
#define GS_SHIM_CLIENT_UNIT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/client/client.h"

struct gs_deferred;

enum gs_unit_state {
    GS_UNIT_QUEUED,    /* it has no grant */
    GS_UNIT_GRANTED,   /* it may be submitted. Or it isn't needed: then it goes back to the queued ones */
    GS_UNIT_SUBMITTED, /* the driver has it, or is about to get it */
    GS_UNIT_COMPLETE,
    GS_UNIT_FAILED, /* while it ran, or the driver has refused it */
    GS_UNIT_STATES
};

enum gs_unit_event {
    GS_UNIT_GRANT,
    GS_UNIT_FORGET, /* it isn't needed */
    GS_UNIT_SUBMIT,
    GS_UNIT_COMPLETES,
    GS_UNIT_FAILS,
    GS_UNIT_EVENTS
};

/* A sub-kernel, a chunk of a transfer, or a batch of short commands. All zero: queued. `held`: the command that it
 * belongs to; null: one that no gs_deferred stands for. */
struct gs_unit {
    _Atomic(enum gs_unit_state) state;
    bool waited;           /* what it took was waited for; else no more is known than that it took no longer */
    struct gs_grant grant; /* while it is granted or submitted */
    struct gs_deferred *held;
};

/* A unit that is granted or submitted has a grant. This gives it back with the state after those, at once: others may
 * wait for it. What must not happen is reported where locks are checked (common/lock/rank.h). */
void gs_unit_on(struct gs_unit *u, enum gs_unit_event event);

static inline bool gs_unit_is(const struct gs_unit *u, enum gs_unit_state state)
{
    return atomic_load(&u->state) == state;
}

#endif
