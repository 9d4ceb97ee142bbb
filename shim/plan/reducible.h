/* SPDX-License-Identifier: MIT */
/* Atomics whose results nobody uses, as reductions: each part works on its own copy of the bytes, and the copies are
 * combined afterwards. Which uses of a plan that holds for. Pure, as the plan is. */
#ifndef GS_SHIM_PLAN_REDUCIBLE_H
#define GS_SHIM_PLAN_REDUCIBLE_H

#include "shim/plan/plan.h"

/* Are all atomics on the argument of one operation? Then copies of it can be combined; of floating-point numbers,
 * whether they may is for gs_plan_input to say. */
bool gs_reducible(const struct gs_arg_summary *arg);

/* Adds what one part changes by the atomics of one argument, whose window is m. -ENOMEM. */
int gs_reducible_add(struct gs_use *u, unsigned part, const struct gs_mem *m, const struct gs_arg_summary *arg,
                     const struct gs_arg_access *a);

/* Once all parts' accesses are known, settles how the use's atomics come together: GS_DISJOINT where each part changes
 * its own bytes, else GS_REDUCED; or u->clash. -ENOMEM. */
int gs_reducible_choose(struct gs_use *u, unsigned n_parts);

#endif
