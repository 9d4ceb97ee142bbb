/* SPDX-License-Identifier: MIT */
/* The application's events that stand for several commands. */
#ifndef GS_SHIM_PUT_FINISH_H
#define GS_SHIM_PUT_FINISH_H

#include "shim/order/command.h"

/* `ended` are those on other devices or queues. Makes a marker in the application's queue that waits for them, and
 * hands it out through `event` if that isn't NULL. */
cl_int gs_finish_command(struct gs_queue *q, cl_command_type type, const struct gs_events *ended,
                         const unsigned *device, cl_event *event);

/* clReleaseEvent, for an event that may be one of these. */
cl_int gs_release_event(cl_event event);

#endif
