/* SPDX-License-Identifier: MIT */
#include "shim/client/unit.h"

#include "common/lock/rank.h"
#include "shim/client/client.h"

enum unit_action { STAYS = 1, GIVES_BACK };

/* What is left out must not happen. */
static const struct {
    enum unit_action action;
    enum gs_unit_state to;
} unit_on[GS_UNIT_STATES][GS_UNIT_EVENTS] = {
    [GS_UNIT_QUEUED] = {[GS_UNIT_GRANT] = {STAYS, GS_UNIT_GRANTED}},
    [GS_UNIT_GRANTED] = {[GS_UNIT_FORGET] = {GIVES_BACK, GS_UNIT_QUEUED},
                         [GS_UNIT_SUBMIT] = {STAYS, GS_UNIT_SUBMITTED},
                         [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
    [GS_UNIT_SUBMITTED] =
        {[GS_UNIT_COMPLETES] = {GIVES_BACK, GS_UNIT_COMPLETE}, [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
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
