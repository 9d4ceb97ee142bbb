/* SPDX-License-Identifier: MIT */
/* Has the compiler made the same of a kernel's translation as of the kernel itself? Pure; for PTX, which is what
 * NVIDIA's driver answers where it is asked for a program's binary.
 *
 * A compiler that may reorder floating-point operations may make others of a text that has a hidden argument (struct
 * gs_hidden). Whether it did is seen: everything that computes with floating-point numbers or with what was loaded, all
 * accesses, branches and barriers must be the same, instruction by instruction, in the same order, in the same blocks,
 * from the same registers but for their names. What is left are whole numbers made of nothing but arguments, constants
 * and the ids and sizes of the launch. These are exact, whatever their order, so only what each is made of is compared,
 * where one of the former instructions uses it; ids, sizes and the hidden argument are one there. */
#ifndef GS_SHIM_PLAN_SAME_CODE_H
#define GS_SHIM_PLAN_SAME_CODE_H

#include <stdbool.h>

/* The PTX of two programs, and the kernel's name in both; in `translated` it takes one argument more. False also where
 * the text isn't understood: calls, indirect branches, no PTX. */
bool gs_same_code(const char *own, const char *translated, const char *kernel);

#endif
