/* SPDX-License-Identifier: MIT */
/* Hears of an event's end, however it ends. PoCL (3.1) calls no callback of an event that fails, so a thread of ours
 * looks at those that are still awaited, now and then. */
#ifndef GS_SHIM_ORDER_COMPLETION_H
#define GS_SHIM_ORDER_COMPLETION_H

#include "shim/driver/real.h"

/* Calls `ended` once, with the event's final status, from a thread of the driver's or of ours, perhaps before this
 * returns. Where the driver takes no callback the thread of ours is all there is; then `wanted`, if not null, says
 * whether anybody has need of the end at the moment: for what nobody has it looks every 20 ms only. It calls nobody.
 * A null event isn't known yet: `last` is asked for it now and then, and gives a reference away once it does know; from
 * whatever thread, one at a time. False: no memory, or no thread that would ask, and it won't. */
bool gs_await_end(cl_event event, cl_event (*last)(void *data), bool (*wanted)(const void *data),
                  void (*ended)(cl_event event, cl_int status, void *data), void *data);

/* What is awaited with this `data` has probably ended: if so it is told now, from this thread. */
void gs_completion_now(const void *data);

/* What is awaited with this `data` has ended, for sure: it is the caller's to say so, by gs_completion_over. Null:
 * another thread is about to find out, or has. Takes no lock but its own for a moment. */
struct gs_awaited *gs_completion_claim(const void *data);

/* Calls its `ended`, with CL_COMPLETE, and a null event where it wasn't known yet. */
void gs_completion_over(struct gs_awaited *a);

/* The application has just made an event fail: ends the events that fail with it, and in turn those that they fail. */
void gs_completion_failures(void);

/* ---- callbacks.c: the application's callbacks of events ----
 *
 * A driver may call back from within any other call, on the thread that made it, or with a lock of its own held
 * (specification, clSetEventCallback: asynchronously), and the application may enqueue there: it would wait for the
 * context's lock, which that very thread has, or another that calls the driver and waits for its lock. So they are
 * called by a thread of ours, in the order in which the driver called. */

/* Is the application within a callback that the driver itself has called: because no thread could be had, or the
 * process ends? There nothing may be waited for, no queue made and no program built, by us on its behalf either. */
bool gs_in_callback(void);

/* Has the application ever asked for a callback of an event? */
bool gs_callbacks_used(void);

/* The driver's clSetEventCallback, in that way. */
cl_int gs_callbacks_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data);

#endif
