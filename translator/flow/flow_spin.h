/* SPDX-License-Identifier: MIT */
/* Loops whose end may hang on what other work-groups do to global memory. Run on a copy of that memory, which others
 * don't change, such a loop may never end. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_SPIN_H
#define GS_TRANSLATOR_FLOW_FLOW_SPIN_H

#include "translator/flow/flow.h"

/* Sets gs_flow_func.spins of each function with such a loop, in programs with atomics or volatile memory. In such a
 * loop (or in functions that it calls) there are atomics on global memory, or reads of global memory that isn't
 * declared constant, and these can reach its condition: by a value, or by deciding whether or how often something
 * happens that the condition looks at. Loops that are one atomic operation (flow_retry.h) end by themselves. Call when
 * all functions have been walked. */
void gs_spin_find(struct gs_flow *f);

#endif
