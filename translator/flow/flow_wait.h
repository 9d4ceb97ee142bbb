/* SPDX-License-Identifier: MIT */
/* Loops that wait for other work-groups: their end depends on global memory that the loop reads again and again without
 * changing it. In a split launch, the work-groups waited for may never run beside the waiting ones. Inside
 * gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_WAIT_H
#define GS_TRANSLATOR_FLOW_FLOW_WAIT_H

#include "translator/parsing/program.h"

/* Finds such a loop's condition, *at. A guess by form, to give a reason that a person understands, and against kernels
 * that would hang. Each load in the condition is volatile or atomic, for which alone the kernel isn't split; or plain,
 * in a loop that nothing else could end. */
bool gs_wait_find(const struct gs_program *p, uint32_t unit, CXCursor loop, CXCursor *at);

#endif
