/* SPDX-License-Identifier: MIT */
/* The plans of the last launches of all kernel objects of one name: one with the same sizes and numbers, and memory
 * objects that are alike, isn't planned again. CLBlast makes a kernel object and buffers for each call: to plan it took
 * 1.6 of 6.6 ms on an H200. With the context's lock held. */
#ifndef GS_SHIM_PLAN_PLAN_CACHE_H
#define GS_SHIM_PLAN_PLAN_CACHE_H

#include "shim/plan/plan.h"

struct gs_plan_cache;

/* The plan that gs_plan_make would make. It belongs to the cache, *cache, which is made on first need, and lives until
 * the next call. NULL: there is no memory. */
const struct gs_plan *gs_plan_cached(struct gs_plan_cache **cache, const struct gs_plan_input *in);
void gs_plan_cache_free(struct gs_plan_cache *cache);

#endif
