/* SPDX-License-Identifier: MIT */
/* Carries out a kernel launch: on one device as it is, or in parts as a plan says; and gives back one event. */
#ifndef GS_SHIM_LAUNCH_LAUNCH_H
#define GS_SHIM_LAUNCH_LAUNCH_H

#include "shim/order/command.h"
#include "shim/record/enqueue.h"

/* The launch `op` of the kernel k; its errors are the driver's. Takes the context's lock. */
cl_int gs_launch(struct gs_queue *q, struct gs_kernel *k, const struct gs_op *op, cl_uint n_wait, const cl_event *wait,
                 cl_event *event);

/* What a kernel of which nothing is known but that it is short may write is defined from now on, as after a closer
 * look. False: look at it. Takes the context's lock. */
bool gs_launch_defines(struct gs_kernel *k);

#endif
