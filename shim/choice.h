/* SPDX-License-Identifier: MIT */
/* Whether a launch that may be split should be: `auto` mode's choice between one device and all, from the times that
 * earlier launches of the same kernel and size took. */
#ifndef GS_SHIM_CHOICE_H
#define GS_SHIM_CHOICE_H

#include "shim/objects.h"

/* What is known of one kernel at one size. Lives as long as the process. */
struct gs_timing;

/* NULL if there is no memory, or none is needed in this mode. */
struct gs_timing *gs_timing_of(const struct gs_kernel *k, cl_uint dims, const size_t *global);

/* Before anything is translated or planned: a reason for one device, or NULL. */
const char *gs_choice(struct gs_timing *t, cl_uint dims, const size_t *global);

/* The launch has been split. */
void gs_choice_split(struct gs_timing *t);

/* Are more measurements of this kind wanted? */
bool gs_timing_wants(const struct gs_timing *t, bool split);

/* Learns, once `end` is complete, how long the launch took: from the end of `begin` where that is given, else from its
 * own start. Both are events of the application's queue, which has profiles in `auto` mode. The parts are those of a
 * split. */
void gs_timing_learn(struct gs_timing *t, cl_event begin, cl_event end, const cl_event *parts, unsigned n_parts);

#endif
