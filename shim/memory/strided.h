/* SPDX-License-Identifier: MIT */
/* Rectangles from one place to another: a kernel on the one packs rows into memory that the way between the two begins
 * with, and one on the other puts them where they belong. By windows that memory is a slot of the window; else memory
 * of ours on either device, between which the rows go as any run of bytes does (rows that pinned memory takes as the
 * driver's rectangles need neither). With the context's lock held; nothing
 * blocks. */
#ifndef GS_SHIM_MEMORY_STRIDED_H
#define GS_SHIM_MEMORY_STRIDED_H

#include "shim/memory/rounds.h"

/* Can it be done between these places? Makes what it takes on the first call. */
bool gs_strided_ready(struct gs_context *ctx, unsigned from, unsigned to);
/* Is there memory on both to pack rows in? Likewise. */
bool gs_strided_has_room(struct gs_command *cmd, unsigned from, unsigned to);
void gs_strided_free(struct gs_strided *s);

/* A copy of packed bytes from offset `at` of src to offset `to_at` of dst; gs_transfer_buffer's other arguments. */
typedef cl_int gs_packed_copy(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                              uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                              struct gs_events *done);

/* A send of rows to one of its takers, by memory of ours, which there is. */
cl_int gs_strided_copy(struct gs_command *cmd, const struct gs_send *send, struct gs_taker *to, gs_packed_copy *copy);

/* Rows of a buffer, or packed ones. */
struct gs_strided_rows {
    cl_mem mem;
    uint64_t at, pitch;
};
/* The kernel itself: rows of r->width bytes, from and to what the place's device reaches. */
cl_int gs_strided_move(struct gs_command *cmd, unsigned place, cl_command_queue queue,
                       const struct gs_strided_rows *from, const struct gs_strided_rows *to, const struct gs_rect *r,
                       const struct gs_events *after, cl_event *end);

#endif
