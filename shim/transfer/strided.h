/* SPDX-License-Identifier: MIT */
/* A kernel on one device packs rows of a buffer, and a kernel on the other puts them in place. By windows they are
 * packed in a slot of the window; by pinned memory, where that doesn't take them as they are, in memory of ours beside
 * a slot of the ring. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_TRANSFER_STRIDED_H
#define GS_SHIM_TRANSFER_STRIDED_H

#include "shim/transfer/move.h"

/* Can it be done between these places, with `packed` by memory of ours on both? Makes kernels and memory on the first
 * call; later commands of `cmd` come after that. */
bool gs_strided_ready(struct gs_command *cmd, unsigned from, unsigned to, bool packed);
/* A place's memory of ours, which there is: as much as the slots of both pinned rings. */
cl_mem gs_strided_packed(const struct gs_context *ctx, unsigned place);

/* The kernel itself: rows of r->width bytes, from and to buffers that the step's place reaches. */
cl_int gs_strided_move(struct gs_command *cmd, const struct gs_location *from, const struct gs_location *to,
                       const struct gs_rect *r, const struct gs_step *step);

#endif
