/* SPDX-License-Identifier: MIT */
/* Memory made with contents (CL_MEM_COPY_HOST_PTR) moves bytes without a command. A large buffer is filled through the
 * pinned ring, or under a daemon by units of the link, piece by piece; an image is one unit. The call waits, as it
 * waits for the driver's copy. With no lock held. */
#ifndef GS_SHIM_API_INITIAL_H
#define GS_SHIM_API_INITIAL_H

#include "shim/api/api.h"

/* Does memory with these flags go by units? */
bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr);

/* clCreateBuffer for such a buffer; *kept gains flags that the driver wasn't told. */
cl_mem gs_initial_buffer(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err);

/* Around a call of the driver that makes memory with contents, as one unit. `wanted` false: no unit. */
void gs_initial_begin(bool wanted, struct gs_unit *u);
void gs_initial_end(struct gs_unit *u);

#endif
