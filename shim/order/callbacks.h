/* SPDX-License-Identifier: MIT */
/* The application's callbacks of events. A driver may call back from within any other call, on the thread that made
 * it, or with a lock of its own held (specification, clSetEventCallback: asynchronously), and the application may
 * enqueue there: it would wait for the context's lock, which that very thread has, or another that calls the driver and
 * waits for its lock. So they are called by a thread of ours, in the order in which the driver called. */
#ifndef GS_SHIM_ORDER_CALLBACKS_H
#define GS_SHIM_ORDER_CALLBACKS_H

#include <stdbool.h>

#include "shim/driver/real.h"

/* Is the application within a callback that the driver itself has called: because no thread could be had, or the
 * process ends? There nothing may be waited for, no queue made and no program built, by us on its behalf either. */
bool gs_in_callback(void);

/* Has the application ever asked for a callback of an event? */
bool gs_callbacks_used(void);

/* The driver's clSetEventCallback, in that way. */
cl_int gs_callbacks_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data);

#endif
