/* SPDX-License-Identifier: MIT */
/* The second half of a program: its translation, compiled for every device of the group before it is trusted. */
#ifndef GS_SHIM_PREPARE_H
#define GS_SHIM_PREPARE_H

#include "shim/objects.h"

/* What the translator knows of the kernel; translates and compiles its program on the first call. NULL: the kernel
 * can't be split, and *reason says why (a string that lives as long as the program). Takes the program's lock; may take
 * long. */
const struct gs_kernel_summary *gs_prepare(struct gs_kernel *k, const char **reason);

/* The kernel for part p, in the translated program. With the context's lock held. Null with an error in *err. */
cl_kernel gs_part_kernel(struct gs_kernel *k, unsigned p, cl_int *err);

#endif
