/* SPDX-License-Identifier: MIT */
/* `--memory pooled` (docs/memory.md): buffers may be as large as all devices' memories together, and each device holds
 * the parts that its turns touch. What entry points ask of this room, in pooled contexts (gs_context.pooled). */
#ifndef GS_SHIM_POOLED_POOLED_H
#define GS_SHIM_POOLED_POOLED_H

#include "shim/record/objects.h"

/* Make objects whose handle is a stand-in: a small object of the driver's with the flags that the application asks for.
 * Results like OpenCL's functions; errcode_ret may be null. */
cl_mem gs_pool_create(struct gs_context *ctx, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *errcode_ret);
cl_mem gs_pool_create_sub(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *errcode_ret);
cl_mem gs_pool_create_image(struct gs_context *ctx, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret);

/* Answers that a stand-in can't give about its object, and that the first device gives for all devices or for missing
 * features. GS_POOL_ASK: the driver has the right answer. */
enum { GS_POOL_ASK = 1 };
cl_int gs_pool_mem_info(const struct gs_mem *m, cl_mem_info what, size_t space, void *value, size_t *size_ret);
cl_int gs_pool_device_info(cl_device_info what, size_t space, void *value, size_t *size_ret);

/* clFinish. */
cl_int gs_pool_finish(cl_command_queue queue);

/* Makes what this room keeps of a context; null: no memory. */
struct gs_pool_queues *gs_pool_queues_new(void);

/* Frees a root's bytes, and a context's queues, when nobody needs them any more. */
void gs_pool_root_free(struct gs_pool_root *r);
void gs_pool_queues_free(struct gs_pool_queues *q);

#endif
