/* SPDX-License-Identifier: MIT */
/* --verify: a split launch is run on one device too, from the same bytes, and what either leaves is compared. Blocks,
 * and takes the memory of what the launch writes three times over on the host. With the context's lock held. */
#ifndef GS_SHIM_LAUNCH_VERIFY_H
#define GS_SHIM_LAUNCH_VERIFY_H

#include "shim/launch/parts.h"

/* Whether the host may read and write all that the launch writes. */
bool gs_verify_usable(const struct gs_plan *plan);

/* The application gets one device's result, and the event. *went: see gs_launch_parts. */
cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
