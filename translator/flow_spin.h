/* SPDX-License-Identifier: MIT */
/* Loops whose end may hang on the results of atomics on global memory. Run on a copy of that memory, which other
 * work-groups don't change, such a loop may never end. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_SPIN_H
#define GS_TRANSLATOR_FLOW_SPIN_H

#include "translator/flow.h"

/* Sets gs_flow_func.spins of each function with a loop in which atomics of global memory happen, by itself or by what
 * it calls, but for those loops whose condition nothing of that kind can reach: neither a value made of an atomic's
 * result, nor whether, or how often, something happens that the condition looks at. Loops that are one atomic operation
 * (flow_retry.h) end by themselves. Once all functions have been walked. */
void gs_spin_find(struct gs_flow *f);

#endif
