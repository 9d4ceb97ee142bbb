/* SPDX-License-Identifier: MIT */
/* What all kernel objects of one name in a program have in common: shim. An application may make one for each launch;
 * what is known of earlier ones' launches holds for the next, and the driver needn't be asked again. */
#ifndef GS_SHIM_PLAN_KINDS_H
#define GS_SHIM_PLAN_KINDS_H

#include "shim/record/size.h"

/* Of the driver's kernel of that name; null: the driver is asked for it. *new: it is the first. NULL: no memory. */
struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new);

/* A program's name in all processes: a hash of its text and options, or of what else it is made from. Never 0. */
uint64_t gs_program_id(struct gs_program *p);
uint64_t gs_program_id_locked(struct gs_program *p); /* with its lock */

/* A program whose source isn't known is made from these bytes; NULL: nobody knows what it is made from. */
void gs_program_made_of(struct gs_program *p, const void *bytes, size_t n);

/* The record of a launch of well-formed sizes, made if need be: its kernel's are found then. NULL: no memory. */
struct gs_size *gs_size_of_launch(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local);

/* The program is built anew: kernels to be made are other ones. */
void gs_kinds_clear(struct gs_program *p);

/* The program, and all its kernels, are gone. */
void gs_kinds_free(struct gs_program *p);

#endif
