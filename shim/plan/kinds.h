/* SPDX-License-Identifier: MIT */
/* What all kernel objects of one name in a program have in common: shim. An application may make one for each launch;
 * what is known of the others' launches holds for it, too, and the driver needn't be asked again what it is. */
#ifndef GS_SHIM_PLAN_KINDS_H
#define GS_SHIM_PLAN_KINDS_H

#include "shim/record/objects.h"

/* Of the driver's kernel of that name; null: the driver is asked for it. *new: it is the first. NULL: no memory. */
struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new);

/* What a program is known by, in other processes too: a hash of its text and options, or of what else it is made from.
 * Never 0. */
uint64_t gs_program_id(struct gs_program *p);
uint64_t gs_program_id_locked(struct gs_program *p); /* with its lock */

/* A program whose source isn't known is made from these bytes; NULL: nobody knows what it is made from. */
void gs_program_made_of(struct gs_program *p, const void *bytes, size_t n);

/* What a kernel is known by: a hash of the program's id and its name. */
uint64_t gs_kernel_id(const struct gs_kernel *k);

/* What a launch is known by, for the time that is expected of it: a hash of the program's id, the kernel's name and the
 * sizes. local: zeros where the application gave none. Never 0. Handles and addresses don't go into it: an application
 * that makes a kernel object for each launch has other kernels at the same addresses. */
uint64_t gs_launch_kind(const struct gs_kernel *k, const uint64_t global[3], const uint64_t local[3]);

/* The program is built anew: kernels to be made are other ones. */
void gs_kinds_forget(struct gs_program *p);

/* The program, and all its kernels, are gone. */
void gs_kinds_free(struct gs_program *p);

#endif
