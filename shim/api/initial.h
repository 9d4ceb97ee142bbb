/* SPDX-License-Identifier: MIT */
/* Memory that is made with contents (CL_MEM_COPY_HOST_PTR) moves bytes without any command: of a large buffer through
 * the pinned ring; for a scheduled application by units of the link, of a buffer piece by piece, of an image as one.
 * The call waits for them, as it waits for the driver's copy. */
#ifndef GS_SHIM_API_INITIAL_H
#define GS_SHIM_API_INITIAL_H

#include "shim/client/client.h"

/* Is that to go by units? */
bool gs_initial_wanted(const struct gs_context *c, cl_mem_flags flags, const void *ptr);

/* Such a buffer, as by clCreateBuffer; *kept gains flags of it that the driver doesn't know. With no lock held. */
cl_mem gs_initial_buffer(struct gs_context *c, cl_mem_flags flags, size_t size, void *ptr, cl_mem_flags *kept,
                         cl_int *err);

/* Around a call of the driver that makes memory with contents: one unit. `wanted` false: none. */
void gs_initial_begin(bool wanted, struct gs_unit *u);
void gs_initial_end(struct gs_unit *u);

#endif
