/* SPDX-License-Identifier: MIT */
/* Loops that wait for other work-groups: whose end depends on global memory that the loop reads again and again but
 * doesn't itself move on. Split over devices, or over two parts of one, what they wait for may never run beside them.
 * Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_WAIT_H
#define GS_TRANSLATOR_FLOW_FLOW_WAIT_H

#include "translator/parsing/program.h"

/* Sets *at to the condition that waits. A guess by form, for a reason that a person understands and against kernels
 * that would hang: each load that it goes by is volatile or atomic, and for that alone its kernel isn't split, or plain
 * and in a loop that nothing else could end. */
bool gs_wait_find(const struct gs_program *p, uint32_t unit, CXCursor loop, CXCursor *at);

#endif
