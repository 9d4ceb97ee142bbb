/* SPDX-License-Identifier: MIT */
/* What all kernel objects of one name in a program have in common: shim. An application may make one for each launch;
 * what is known of the others' launches holds for it, too, and the driver needn't be asked again what it is. */
#ifndef GS_SHIM_KINDS_H
#define GS_SHIM_KINDS_H

#include "shim/objects.h"

/* Of the driver's kernel of that name; null: the driver is asked for it. *new: it is the first. NULL: no memory. */
struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new);

/* The program is built anew: kernels to be made are other ones. */
void gs_kinds_forget(struct gs_program *p);

/* The program, and all its kernels, are gone. */
void gs_kinds_free(struct gs_program *p);

#endif
