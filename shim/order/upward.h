/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_ORDER_UPWARD_H
#define GS_SHIM_ORDER_UPWARD_H

#include "shim/record/objects.h"

/* By the room of the daemon's units. */
struct gs_above_order {
    /* gs_queue_close(): something is about to be enqueued there. */
    void (*close)(cl_command_queue queue);
    /* Has all ended that the application has enqueued there, as far as is known? `of_this_call`: the call under way,
     * which has counted itself, is of this queue. With the context's lock held. */
    bool (*is_empty)(struct gs_queue *q, bool of_this_call);
};
extern const struct gs_above_order gs_above_order;

/* By the daemon's client. */
struct gs_above_completion {
    /* gs_units_are_alone(): is no other application connected? */
    bool (*sole)(void);
    /* gs_units_wanted(): does another application wait for the end of something? */
    bool (*wanted)(void);
    /* Sleeps as long as nobody needs the ends of units, for so long at most; not where `also` says so. False: there is
     * no daemon. And wakes who sleeps there. */
    bool (*sleep)(bool (*also)(void), uint64_t ns);
    void (*wake)(void);
};
extern const struct gs_above_completion gs_above_completion;

#endif
