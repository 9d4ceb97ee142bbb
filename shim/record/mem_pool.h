/* SPDX-License-Identifier: MIT */
/* The room of memory objects, for shim/api/memory.c and shim/api/destroy.c: shim. Where each launch has buffers of its
 * own, what one leaves is the next one's, with the room of its sets: an allocator goes through more lines of code than
 * all that is noted of such a buffer. */
#ifndef GS_SHIM_RECORD_MEM_POOL_H
#define GS_SHIM_RECORD_MEM_POOL_H

#include "shim/record/objects.h"

/* All zeros, but for the room of its sets; with so many places. NULL: there is no memory. */
struct gs_mem *gs_mem_new(unsigned places);

/* Nobody knows it any more, and what its places own is gone. */
void gs_mem_free(struct gs_mem *m);

#endif
