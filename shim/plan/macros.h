/* SPDX-License-Identifier: MIT */
/* What the device's compiler predefines. It is asked once for each device, driver and language version, by a program of
 * #ifdefs, and what it answers is kept in the cache on disk. */
#ifndef GS_SHIM_PLAN_MACROS_H
#define GS_SHIM_PLAN_MACROS_H

#include "shim/record/objects.h"

/* Of a unit with those options: gs_translate_unit.macros, malloc'd. NULL: nobody knows, and the translator guesses. May
 * take as long as a small build. From any thread. */
char *gs_device_macros(struct gs_context *ctx, const char *options);

#endif
