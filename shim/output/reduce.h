/* SPDX-License-Identifier: MIT */
/* Carries out reductions: bytes that only atomics of one operation touch, their results unused (GS_REDUCED). The first
 * part works on the values at home; every other on a copy that starts from the element that changes nothing (0, all
 * ones, the greatest or the least), so that no old value has to be sent or kept; afterwards the copies are combined
 * with what is at home. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_REDUCE_H
#define GS_SHIM_OUTPUT_REDUCE_H

#include "shim/output/merge.h"
#include "shim/plan/plan.h"

/* Before the parts run, once all that they need is under way: fills the copies, and sees to the memory that is needed
 * afterwards. Part p has to wait for ready[p], which also says what the copy must wait for. From here on home alone
 * holds the bytes. */
cl_int gs_reduce_begin(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       struct gs_events *ready);

/* Once the parts have run (part i on place i, ended at event ran[i]): combines the copies at home. Adds to `done`. */
cl_int gs_reduce_parts(struct gs_command *cmd, const struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       const cl_event *ran, struct gs_events *done);

#endif
