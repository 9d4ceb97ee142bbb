/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_ORDER_UPWARD_H
#define GS_SHIM_ORDER_UPWARD_H

#include "shim/record/objects.h"

/* By the room of the daemon's units. */
struct gs_above_order {
    /* gs_queue_close(): something is about to be enqueued there. */
    void (*close)(cl_command_queue queue);
    /* gs_queue_is_empty(): has all ended that the application has enqueued there? */
    bool (*is_empty)(struct gs_queue *q, bool of_this_call);
};
extern const struct gs_above_order gs_above_order;

/* By the daemon's client. */
struct gs_above_completion {
    /* gs_units_are_alone(): is no other application connected? */
    bool (*sole)(void);
    /* gs_units_wanted(), _sleep(), _wake(): does another application wait for the end of something, and until then. */
    bool (*wanted)(void);
    bool (*sleep)(bool (*also)(void), uint64_t ns);
    void (*wake)(void);
};
extern const struct gs_above_completion gs_above_completion;

#endif
