/* SPDX-License-Identifier: MIT */
/* Which compiler the driver has for a context's devices. */
#ifndef GS_SHIM_PLAN_COMPILER_H
#define GS_SHIM_PLAN_COMPILER_H

#include "common/hash.h"
#include "shim/record/objects.h"

/* The entry of gpusparc's cache that is a text, or NULL: it isn't there, or not whole. */
char *gs_cached_text(const char *name);

/* Adds all that its answers hang on: platform, driver, devices. */
void gs_compiler_hash(const struct gs_context *ctx, struct gs_hash *h);

/* What the driver says of a device, malloc'd; NULL where it says nothing. */
char *gs_device_text(cl_device_id dev, cl_device_info what);

/* The texts of a translation, with the program's options, as they would be compiled: the name of what is kept of that
 * in the cache. With the program's lock. */
enum { GS_REFUSED_NAME_BYTES = GS_HASH_HEX_BYTES + 16 };
void gs_refused_name(struct gs_program *p, char name[GS_REFUSED_NAME_BYTES]);

/* With what error these devices' compiler is known to refuse it; CL_SUCCESS: it isn't known to. */
cl_int gs_refused_before(const char *name);

/* It has refused it, with that error. One that another try may not have isn't kept. */
void gs_refused_keep(const char *name, cl_int err);

#endif
