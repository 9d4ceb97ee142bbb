/* SPDX-License-Identifier: MIT */
/* Which compiler the driver has for a context's devices. */
#ifndef GS_SHIM_PLAN_COMPILER_H
#define GS_SHIM_PLAN_COMPILER_H

#include "common/hash.h"
#include "shim/driver/driver.h"
#include "shim/record/objects.h"

/* Adds all that its answers hang on: platform, driver, devices. */
void gs_compiler_hash(const struct gs_context *ctx, struct gs_hash *h);

/* What the driver says of a program's build for a device, malloc'd; NULL where it says nothing. */
char *gs_build_log(cl_program program, cl_device_id dev);

/* The log's first line with an error, or else its first line; without the blanks before it, other characters than ASCII
 * as '?'. log: may be NULL; line: bytes long, "" where there is none. */
void gs_log_line(const char *log, char *line, size_t bytes);

#endif
