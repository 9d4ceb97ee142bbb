/* SPDX-License-Identifier: MIT */
/* Maps of buffers that gpusparc carries out itself, as a read into the host's memory and, at the unmap, a write from
 * it: of those that lie in the application's own memory (CL_MEM_USE_HOST_PTR), which a GPU's driver copies like any
 * other pageable memory; and, under a daemon, of all others, since a driver's map is one command however large. Those
 * get pinned memory of ours, for all of the object, on the first such map. With the context's lock held; nothing
 * blocks. */
#ifndef GS_SHIM_TRANSFER_MAPPED_H
#define GS_SHIM_TRANSFER_MAPPED_H

#include "shim/command.h"

/* May a map of it be ours? Else the driver has to be asked: it knows of a difference, or would not move anything. */
bool gs_mapped_possible(const struct gs_mem *m, cl_map_flags flags);

/* Does the object lie in the application's own memory? */
static inline bool gs_mapped_is_pageable(const struct gs_mem *m)
{
    return m->root->flags & CL_MEM_USE_HOST_PTR;
}

/* The host's memory for byte `offset` of m. What uses it must come after `ready`, which may gain an event. Null: there
 * is none. */
void *gs_mapped_at(struct gs_mem *m, uint64_t offset, struct gs_events *ready);

/* How many maps of it are ours: the driver doesn't count them. */
cl_uint gs_mapped_count(const struct gs_mem *m);

/* The root goes away. */
void gs_mapped_free(struct gs_mem *root);

#endif
