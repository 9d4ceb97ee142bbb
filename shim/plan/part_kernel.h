/* SPDX-License-Identifier: MIT */
/* Kernels of a translated program. */
#ifndef GS_SHIM_PLAN_PART_KERNEL_H
#define GS_SHIM_PLAN_PART_KERNEL_H

#include "shim/record/objects.h"

/* The kernel for part p, in the translated program. With the context's lock held. Null with an error in *err. */
cl_kernel gs_part_kernel(struct gs_kernel *k, unsigned p, cl_int *err);

/* A kernel of the translated program for one launch on a place, whose arguments may be set and used while other
 * launches of the same kernel are made; and back. From any thread. Null with an error in *err. */
cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err);
void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare);

#endif
