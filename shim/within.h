/* SPDX-License-Identifier: MIT */
/* Is the application within a callback of an event? There it may enqueue, but wait for nothing, make no queue and build
 * no program (specification, clSetEventCallback); and so may we on its behalf. */
#ifndef GS_SHIM_WITHIN_H
#define GS_SHIM_WITHIN_H

#include <stdbool.h>

#include "shim/real.h"

bool gs_within_callback(void);

/* Has the application ever asked for a callback of an event? */
bool gs_within_ever(void);

/* The driver's clSetEventCallback, in a way that the thread which calls back knows that it does. */
cl_int gs_within_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data);

#endif
