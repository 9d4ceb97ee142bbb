/* SPDX-License-Identifier: MIT */
/* Carries out a launch in parts, as its plan says: brings each part what it needs, runs them, puts their writes
 * together, and gives back one event. With the context's lock held; nothing blocks but what undoes a launch that a
 * device has refused. */
#ifndef GS_SHIM_LAUNCH_PARTS_H
#define GS_SHIM_LAUNCH_PARTS_H

#include "shim/subkernel/launching.h"

/* Is another thread in a call that uses, without the context's lock, some of the bytes that the launch changes, or
 * changes some that it uses? The launch is to run at home then, by the application's queue, in which the call's command
 * will be. */
bool gs_plan_is_in_use(const struct gs_plan *plan);

/* Runs the plan's parts. With !*went nothing has happened that one device couldn't do over; else the error, if there is
 * one, is the application's, as is *event (NULL: nobody wants it). */
cl_int gs_launch_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
