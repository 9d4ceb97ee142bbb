/* SPDX-License-Identifier: MIT */
/* Carries out a kernel launch: on one device as it is, or in parts as a plan says; and gives back one event. */
#ifndef GS_SHIM_LAUNCH_LAUNCH_H
#define GS_SHIM_LAUNCH_LAUNCH_H

#include "shim/order/command.h"
#include "shim/driver/enqueue.h"

/* Carries out the launch of the kernel k; its errors are the driver's. Takes the context's lock. */
cl_int gs_launch(struct gs_command *cmd, struct gs_kernel *k);

#endif
