/* SPDX-License-Identifier: MIT */
/* Maps that gpusparc carries out itself, as a read into the host's memory and, at the unmap, a write from
 * it, since a driver's map is one command however large: those under a daemon. A buffer in the application's own memory
 * (CL_MEM_USE_HOST_PTR) is read and written there; others get pinned memory of ours, for all of the object, on the
 * first such map. Without a daemon maps are the driver's: NVIDIA's (580.159) has pinned the application's memory and
 * moves 55 GB/s, more than our ring. With the context's lock held; nothing blocks but
 * the first, while the memory is pinned. */
#ifndef GS_SHIM_MEMORY_MAPPED_H
#define GS_SHIM_MEMORY_MAPPED_H

#include "shim/client/client.h"
#include "shim/order/command.h"

/* May a map of it be ours? Else the driver has to be asked: it knows of a difference, or would not move anything. */
bool gs_mapped_usable(const struct gs_mem *m, cl_map_flags flags);

/* The host's memory for byte `offset` of m. Null: there is none. */
void *gs_mapped_at(struct gs_mem *m, uint64_t offset);

/* The same for an image, of which the host's memory holds all texels, in rows and slices so many bytes apart. */
void *gs_mapped_image_at(struct gs_mem *m, const size_t origin[3], size_t pitch[2]);

/* How many maps of it are ours: the driver doesn't count them. */
cl_uint gs_mapped_count(const struct gs_mem *m);

/* The root goes away. */
void gs_mapped_free(struct gs_mem *root);

#endif
