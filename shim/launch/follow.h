/* SPDX-License-Identifier: MIT */
/* A launch of a scheduled application that is like one before it of the same job, which was one unit on the first
 * device: it is handed on at once, without another look at what there is to choose, to bring and to note; mostly in the
 * unit of the command before it. */
#ifndef GS_SHIM_LAUNCH_FOLLOW_H
#define GS_SHIM_LAUNCH_FOLLOW_H

#include "shim/launch/parts.h"

/* This launch has been enqueued as one unit on the first device: those like it may follow. `is_long`: it is one only
 * because its chunks are large. With the context's lock held. */
void gs_may_follow(const struct gs_launching *l, bool is_long);

/* Carries out a launch. False: it is to be looked at, and nothing has happened. Else *err is the driver's answer. */
bool gs_follow(const struct gs_command *cmd, struct gs_kernel *k, cl_int *err);

/* Enqueues a launch as that one unit, behind its gate if there is one; see gs_hold_back(). */
cl_int gs_launch_held(struct gs_deferred *held, cl_event gate, const struct gs_command *cmd, cl_uint n_wait,
                      const cl_event *wait, cl_event *event);

#endif
