/* SPDX-License-Identifier: MIT */
/* The second half of a program: its translation, compiled for every device of the group before it is trusted. */
#ifndef GS_SHIM_PLAN_PREPARE_H
#define GS_SHIM_PLAN_PREPARE_H

#include "common/lock/locked.h"
#include "shim/record/objects.h"

/* What the translator knows of the kernel; translates its program on the first call, and, if `compile`, compiles it for
 * every device on the first such call. NULL: the kernel can't be split, and *reason says why (a string that lives as
 * long as the program). Takes the program's lock; may take long. */
const struct gs_kernel_summary *gs_prepare(struct gs_kernel *k, bool compile, const char **reason);

/* Has that been done, so that gs_prepare doesn't take long? */
bool gs_prepared(struct gs_program *p);

/* Has it done by a thread of ours, and waits for it for most_ns. Without the context's lock, but for who waits for
 * nothing. */
void gs_prepare_by_thread(struct gs_program *p, uint64_t most_ns);

/* Translates a program, if that hasn't been done, and says which headers on disk it was made with (see
 * gs_summary.headers); NULL where it can't be translated. Takes the program's lock; may take long. */
const char *gs_prepare_headers(struct gs_program *p);

/* A kernel of the translated program for one launch on a place, whose arguments may be set and used while other
 * launches of the same kernel are made; and back. From any thread. Null with an error in *err. */
cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err);
void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare);

/* Frees what a compiled or linked program is made of. */
void gs_program_drop_units(struct gs_program *p);
/* A program that is built anew is translated anew, and its kernels are others. Waits until no thread of ours is at it
 * any more. */
void gs_program_clear(struct gs_program *p);
/* Frees all that this room has made of the program. */
void gs_program_free(struct gs_program *p);

#endif
