/* SPDX-License-Identifier: MIT */
/* Tells of an event's end, also if the event fails. PoCL (3.1) doesn't call back for a failed event, so a thread of
 * ours looks at all awaited events now and then. */
#ifndef GS_SHIM_ORDER_COMPLETION_H
#define GS_SHIM_ORDER_COMPLETION_H

#include "shim/driver/real.h"

/* Calls `ended` once with the event's final status, from a thread of the driver's or of ours, perhaps before
 * gs_await_end returns. With GPUs our thread polls instead of the driver's callback, but only while `wanted` (if not
 * null) says that somebody needs the end. `wanted` must call nothing. A null event isn't known yet: `last` is called
 * now and then, from any thread, never from two at once, until it returns true: with the event and a reference, or
 * null, as what is awaited has ended. `last` must not wait. False: no memory, or no thread; `ended` isn't called. */
bool gs_await_end(cl_event event, bool (*last)(void *data, cl_event *event), bool (*wanted)(const void *data),
                  void (*ended)(cl_event event, cl_int status, void *data), void *data);

/* Starts our thread, and those that wait for units, so that no call waits for them. False: no thread. */
bool gs_units_start_threads(void);

/* An event awaited with this `data` has probably ended: if so, calls `ended` now, from the caller's thread. */
void gs_completion_now(const void *data);

/* The event awaited with this `data` has surely ended: the caller takes over, and calls gs_completion_over. Null:
 * another thread knows already, or is finding out. Takes only its own lock, for a moment. */
struct gs_awaited *gs_completion_claim(const void *data);

/* Calls `ended` with CL_COMPLETE, and with a null event if the event wasn't known yet. */
void gs_completion_over(struct gs_awaited *a);

/* ---- callbacks.c: the application's callbacks of events ----
 *
 * A driver may call back during any other call, on the calling thread, or while holding its own lock (specification,
 * clSetEventCallback). If the application enqueues in the callback, the thread would wait for the context's lock, which
 * the thread itself may hold, or another thread that waits for the driver's lock. So a thread of ours calls the
 * application, in the order of the driver's calls. */

/* Is this thread in a callback that the driver called directly, since no thread could be had or the process ends? There
 * we must not wait, make a queue, or build a program. */
bool gs_in_callback(void);

/* Has the application ever asked for a callback of an event? */
bool gs_callbacks_used(void);

/* Until the callbacks so far have returned: PoCL's own waits end after them, and applications use what they store. */
void gs_callbacks_await(void);

/* clSetEventCallback, by our thread. */
cl_int gs_callbacks_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data);

#endif
