/* SPDX-License-Identifier: MIT */
/* Kernels of ours, which bring the results of parts together on the first device. They are one program. */
#ifndef GS_SHIM_RECORD_OWN_KERNELS_H
#define GS_SHIM_RECORD_OWN_KERNELS_H

#include "shim/record/objects.h"

/* The kernel object, made on first need; the application hears nothing of a compilation. The context's lock is held,
 * also while the object is used. NULL: *err says why. */
cl_kernel gs_own_kernel(struct gs_context *ctx, enum gs_own_kernel which, cl_int *err);
/* Compiles the program beforehand, by a thread of ours that is inside the driver: in the launch that needs it first it
 * took 58 to 157 ms on an H100, of 84 ms that Rodinia's pathfinder computes. Without a context's lock. */
void gs_own_compile(struct gs_context *ctx);
void gs_own_free(struct gs_context *ctx);

#endif
