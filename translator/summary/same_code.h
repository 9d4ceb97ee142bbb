/* SPDX-License-Identifier: MIT */
/* What NVIDIA's compiler makes of a program built for relaxed floating-point numbers can be read: its binary is a text
 * in PTX (PTX ISA, https://docs.nvidia.com/cuda/parallel-thread-execution). So whether a kernel's translation computes
 * the same bits needn't be guessed from the options. docs/translator.md has what was compared. */
#ifndef GS_TRANSLATOR_SUMMARY_SAME_CODE_H
#define GS_TRANSLATOR_SUMMARY_SAME_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct gs_code {
    const char *text; /* needs no 0 at its end; other binaries than PTX do no harm */
    size_t bytes;
};

/* Do both texts compute all floating-point numbers of the kernel (with n_args arguments of the application's) by the
 * same operations on the same operands? Then all bits are equal, since integers are equal in any case. False also if
 * nobody can tell: no such kernel, a call of a function, numbers of 16 bits or pairs of these, more than 20,000
 * instructions, several conversions of integers from the same source; or no memory. */
bool gs_same_code(const struct gs_code *own, const struct gs_code *translated, const char *kernel, unsigned n_args);

#endif
