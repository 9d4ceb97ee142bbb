/* SPDX-License-Identifier: MIT */
/* What reading and writing buffers share. */
#ifndef GS_SHIM_API_BUFFER_H
#define GS_SHIM_API_BUFFER_H

#include "shim/api/transfer.h"
#include "shim/fast_path/fast_path.h"

/* A small transfer of an object all of whose bytes are defined, of which nothing is to be noted. */
static inline bool gs_is_plain(struct gs_mem *m, size_t offset, size_t size)
{
    return gs_is_defined(m) && size <= atomic_load_explicit(&gs_fast_path.small_bytes, memory_order_relaxed) &&
           gs_inside(m, offset, size);
}

#endif
