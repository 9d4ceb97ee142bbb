/* SPDX-License-Identifier: MIT */
/* `--memory pooled` (docs/memory.md): the application's buffers are as large as the memories of all devices together,
 * and each device holds the parts of them that its turns touch. What the entry points ask of this room; of contexts
 * that are pooled (gs_context.pooled) only. */
#ifndef GS_SHIM_POOLED_POOLED_H
#define GS_SHIM_POOLED_POOLED_H

#include "shim/record/objects.h"

/* Objects whose handle is a stand-in: a small object of the driver's with the flags of what the application asks for.
 * As the functions of OpenCL; errcode_ret may be null. */
cl_mem gs_pool_create(struct gs_context *ctx, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *errcode_ret);
cl_mem gs_pool_create_sub(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *errcode_ret);
cl_mem gs_pool_create_image(struct gs_context *ctx, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret);

/* What a stand-in can't say of its buffer; and what the first device says of all of them, and of what isn't to be had.
 * GS_POOL_ASK: the driver is to answer. */
enum { GS_POOL_ASK = 1 };
cl_int gs_pool_mem_info(const struct gs_mem *m, cl_mem_info what, size_t room, void *value, size_t *size_ret);
cl_int gs_pool_device_info(cl_device_info what, size_t room, void *value, size_t *size_ret);

/* As clFinish. */
cl_int gs_pool_finish(cl_command_queue queue);

/* What a context has; null: no memory. */
struct gs_pool_queues *gs_pool_queues_new(void);

/* The bytes of a root, and a context's queues, once nobody needs them any more. */
void gs_pool_root_free(struct gs_pool_root *r);
void gs_pool_queues_free(struct gs_pool_queues *q);

#endif
