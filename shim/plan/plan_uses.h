/* SPDX-License-Identifier: MIT */
/* What each part of a launch that has been cut does to each memory object. */
#ifndef GS_SHIM_PLAN_PLAN_USES_H
#define GS_SHIM_PLAN_PLAN_USES_H

#include "shim/plan/plan.h"

/* An argument, as far as it is a number. */
static inline struct gs_arg_value gs_plan_value(const struct gs_arg *a)
{
    return (struct gs_arg_value){.bytes = a->is_mem || !a->has_value ? NULL : a->bytes, .size = a->size};
}

/* Are all atomics on the argument of one operation? Then copies of it can be combined; of floating-point numbers,
 * whether they may is for gs_plan_input to say. */
bool gs_reducible(const struct gs_arg_summary *arg);

/* Fills plan->uses, and what follows from them, of a plan whose parts are known. -ENOMEM. */
int gs_plan_find_uses(struct gs_plan *plan, const struct gs_plan_input *in);

#endif
