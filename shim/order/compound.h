/* SPDX-License-Identifier: MIT */
/* Events that stand for several commands: markers that wait for them. By the standard such an event may fail as soon as
 * one of those commands has, while others still write to memory. What comes next comes after the event, and so perhaps
 * before those. Nothing is done about it before the event is seen to have failed: until then what comes next waits for
 * it, and fails with it. With the context's lock held. */
#ifndef GS_SHIM_ORDER_COMPOUND_H
#define GS_SHIM_ORDER_COMPOUND_H

#include "shim/record/objects.h"

/* The end of a command in the application's queue stands for all of these. Retains them. */
void gs_compound_add(struct gs_queue *q, cl_event end, const struct gs_events *of);

/* Has the last of them in a queue failed? Then those of its commands that haven't ended are the context's `unended`. */
void gs_compound_look(struct gs_queue *q);
void gs_compound_look_all(struct gs_context *ctx);

/* What must be waited for besides: `to` gets what ends well once those have ended, however they do. */
cl_int gs_compound_await(struct gs_context *ctx, struct gs_events *to);

/* The queue is let go, and its commands run on: what is enqueued elsewhere still comes after them. */
void gs_compound_leave(struct gs_queue *q);

#endif
