/* SPDX-License-Identifier: MIT */
/* Memory of the host's that GPUs read and write at their link's pace: ours, which the driver has pinned for a buffer
 * around it. Nothing ever stands in that buffer. For other devices any memory does. */
#ifndef GS_SHIM_STAGING_PINNED_MEMORY_H
#define GS_SHIM_STAGING_PINNED_MEMORY_H

#include "shim/record/objects.h"

struct gs_pinned_memory {
    char *base;    /* null: there is none */
    cl_mem buffer; /* or null */
    void *map;
    size_t map_bytes;
};

/* shown: the application sees this memory, so a child process gets it too. On an error there is nothing to free. Blocks
 * for as long as pinning takes: 3.4 ms of 64 MiB on an H200's host. */
cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool shown);

/* No command may be under way on this memory. */
void gs_pinned_memory_free(struct gs_pinned_memory *m);

#endif
