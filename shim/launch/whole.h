/* SPDX-License-Identifier: MIT */
/* A launch on one device: as it is, or, under a daemon's schedule, as one unit or in several chunks of its work-groups.
 * With the context's lock held, but where it is said otherwise. */
#ifndef GS_SHIM_LAUNCH_WHOLE_H
#define GS_SHIM_LAUNCH_WHOLE_H

#include "shim/subkernel/launching.h"

/* Its work-items and groups, with the work-group size that the kernel demands. Needs no lock. */
void gs_launch_geometry(struct gs_launching *l);

/* May it write what this argument, a memory object, leads to? Where its address is stored or used as a number, who
 * knows. */
bool gs_launch_may_write(const struct gs_launching *l, cl_uint arg);

/* Is it more than one unit, by what its chunks took before? Needs no lock. */
bool gs_launch_is_long(const struct gs_launching *l);

/* The translated kernel for one that isn't split, where it takes one: for several chunks, or another device than home;
 * else null. Needs no lock; may wait for the compiler. */
const struct gs_kernel_summary *gs_launch_units(struct gs_launching *l);

/* Carries it out as one unit on the first device by the application's own kernel, where there is nothing to bring home
 * and to note. */
cl_int gs_launch_unit(const struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event);

/* Carries it out on the first device: brings home what it uses, and notes what it may write. Errors are the driver's.
 */
cl_int gs_launch_single(struct gs_launching *l, cl_event *event);

/* The same on a queue with profiles, so that auto mode learns how long it takes. */
cl_int gs_launch_measured(struct gs_launching *l, cl_event *event);

/* The same by units: what they take is what it takes. */
cl_int gs_launch_counted(struct gs_launching *l, cl_event *event);

#endif
