/* SPDX-License-Identifier: MIT */
/* --verify: a launch in parts and on one device, from the same bytes, compared (shim/launch/verify.h). With the
 * context's lock held, under which it waits for the devices. */
#ifndef GS_SHIM_LAUNCH_VERIFIED_H
#define GS_SHIM_LAUNCH_VERIFIED_H

#include "shim/launch/parts.h"

/* The application gets one device's result, and the event. *went: see gs_launch_parts. */
cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
