/* SPDX-License-Identifier: MIT */
/* Memory objects from their making to their end: the record, and which of its bytes are valid where. Each is made for a
 * handle of the driver's; other threads find it only after gs_mem_publish. NULL: no memory. */
#ifndef GS_SHIM_MEMORY_OBJECT_H
#define GS_SHIM_MEMORY_OBJECT_H

#include "shim/record/objects.h"

/* One that owns its bytes; kept: flags that the driver wasn't told. */
struct gs_mem *gs_mem_root(struct gs_context *c, cl_mem handle, uint64_t size, cl_mem_flags flags, cl_mem_flags kept);

/* A window of an object of ours, which lives as long as the window does. */
struct gs_mem *gs_mem_window(struct gs_mem *parent, cl_mem handle, uint64_t origin, uint64_t size);

/* A window with the driver's sub-buffer, which is made too. NULL with an error in *err. */
struct gs_mem *gs_mem_sub_buffer(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *err);

/* An image; parent: the object whose bytes are its texels, or null. flags: the application's. */
struct gs_mem *gs_mem_image(struct gs_context *c, cl_mem handle, struct gs_mem *parent, const cl_image_format *format,
                            const cl_image_desc *desc, cl_mem_flags flags);

/* From now on gs_find() finds it, and a root is among those of its context. */
void gs_mem_publish(struct gs_mem *m, cl_mem handle);

/* The application has let it go for the last time: what the driver says to that. Of an object in use it hears later. */
cl_int gs_mem_released(struct gs_mem *m);

/* A call uses the object from now on without the context's lock, until the end of that: the driver mustn't free it
 * before it has the call's command. With the lock held; the second is true where the application has let the object go
 * meanwhile: then the caller calls the third, once it has given the lock back. */
void gs_mem_use(struct gs_mem *m);
bool gs_mem_use_end(struct gs_mem *m);
cl_int gs_mem_release(struct gs_mem *m);

/* How many references to its handle are not the application's. */
cl_uint gs_mem_own_references(struct gs_mem *m);

/* Nobody holds it any more. */
void gs_mem_free(struct gs_mem *m);

/* The flags of a handle, as the driver has them. */
cl_mem_flags gs_mem_flags(cl_mem handle);

#endif
