/* SPDX-License-Identifier: MIT */
/* Programs that the application builds anew: for each launch, perhaps. */
#ifndef GS_SHIM_PLAN_REUSE_H
#define GS_SHIM_PLAN_REUSE_H

#include "shim/record/objects.h"

/* The program loses its translation: what was made of it is kept in its context for the next of the same text and
 * options. It is that one's alone: PoCL's kernels of one program clash (gs_group.pocl). With the program's
 * lock. */
void gs_reuse_keep(struct gs_program *p);

/* Gives the program what was kept, if there is any. With its lock. */
void gs_reuse_take(struct gs_program *p);

/* The context is gone. */
void gs_reuse_free(struct gs_context *ctx);

#endif
