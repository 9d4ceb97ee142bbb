/* SPDX-License-Identifier: MIT */
/* What is known of OpenCL C's built-in functions, by name. */
#ifndef GS_TRANSLATOR_PARSING_BUILTINS_H
#define GS_TRANSLATOR_PARSING_BUILTINS_H

#include <stdbool.h>

#include "translator/summary/summary.h"

/* Does its value or effect depend on how the launch is divided into work-groups? */
bool gs_builtin_uses_group(const char *name);

/* Does a split change the built-in's value, so that the hidden argument must correct it? */
bool gs_builtin_is_hidden(const char *name);

/* Does it where a part's launch has no global_work_offset (struct gs_moves)? */
bool gs_builtin_is_moved(const char *name);

/* Why a kernel that calls it can't be split, or NULL. */
const char *gs_builtin_refusal(const char *name);

/* Is the built-in an atomic operation? *op: which; GS_ATOMIC_OTHER: one that can't be reduced. */
bool gs_builtin_atomic(const char *name, enum gs_atomic_op *op);

/* Does it take the address of a pointer argument without touching what lies there (prefetch, fences, conversions)? */
bool gs_builtin_only_looks(const char *name);

/* Does the built-in return a pointer that was passed to it (to_global and the like)? */
bool gs_builtin_returns_pointer(const char *name);

#endif
