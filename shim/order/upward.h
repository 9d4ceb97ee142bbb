/* SPDX-License-Identifier: MIT */
/* Functions of upper rooms that this room calls. */
#ifndef GS_SHIM_ORDER_UPWARD_H
#define GS_SHIM_ORDER_UPWARD_H

#include "shim/record/objects.h"

/* By the room of the daemon's units. */
struct gs_above_order {
    /* gs_queue_close(): a command is about to be enqueued in the queue. */
    void (*close)(cl_command_queue queue);
    /* Are all the application's commands in the queue known to have ended? `of_this_call`: don't count the newest,
     * which is the call under way. With the context's lock held. */
    bool (*is_empty)(struct gs_queue *q, bool of_this_call);
    /* Starts the threads that wait for units. False: no thread. */
    bool (*start_threads)(void);
};
extern const struct gs_above_order gs_above_order;

/* By the daemon's client. */
struct gs_above_completion {
    /* gs_app_is_sole(): is no other application connected? */
    bool (*sole)(void);
    /* gs_units_wanted(): does another application wait for a unit's end? */
    bool (*wanted)(void);
    /* Sleeps while nobody needs a unit's end and `also` says false, `ns` at most, or until wake(). False: no daemon. */
    bool (*sleep)(bool (*also)(void), uint64_t ns);
    void (*wake)(void);
};
extern const struct gs_above_completion gs_above_completion;

#endif
