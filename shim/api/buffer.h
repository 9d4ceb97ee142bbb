/* SPDX-License-Identifier: MIT */
/* What reading and writing buffers share. */
#ifndef GS_SHIM_API_BUFFER_H
#define GS_SHIM_API_BUFFER_H

#include "shim/api/transfer.h"
#include "shim/record/bypass.h"
#include "shim/schedule/row.h"

/* May the host read, or write, it? */
static inline bool gs_may_read(const struct gs_mem *m)
{
    return !(m->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS));
}
static inline bool gs_may_write(const struct gs_mem *m)
{
    return !(m->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
}

/* A small transfer of an object all of whose bytes are defined, of which nothing is to be noted. */
static inline bool gs_is_plain(struct gs_mem *m, size_t offset, size_t size)
{
    return gs_is_defined(m) && size <= atomic_load_explicit(&gs_fast_path.small_bytes, memory_order_relaxed) &&
           gs_inside(m, offset, size);
}

/* The queue, if this thread has a free row there, see shim/schedule/row.h, by which such a transfer may go; else null.
 */
static inline const struct gs_queue *gs_free_row_for(const struct gs_fast_path_thread *t, cl_command_queue queue,
                                                     cl_mem buffer, size_t offset, size_t size)
{
    const struct gs_queue *q = gs_row_free_in(t, queue);
    struct gs_mem *m = q ? gs_find_newest(GS_MEM, buffer) : NULL;
    return m && gs_is_plain(m, offset, size) ? q : NULL;
}

#endif
