/* SPDX-License-Identifier: MIT */
/* Moves bytes between the places of a memory object, by the path that suits the two. With the context's lock held;
 * nothing blocks: each transfer waits for cmd->before and gives back an event. */
#ifndef GS_SHIM_TRANSFER_TRANSFER_H
#define GS_SHIM_TRANSFER_TRANSFER_H

#include "shim/transfer/sends.h"

/* Copies bytes of a root (of an image, ranges of them) between places that have a replica each: of the sends `from`,
 * `rect`, and the target's place, part and `done` are set. They go at the same time where the devices can; what arrives
 * is noted. None of them may bring what another is to carry on. On an error some may have been enqueued. */
cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends);

/* Copies bytes between two buffers, on two places (scratch memory of a merge) or on one; waits for `wait` instead. */
cl_int gs_transfer_buffer(struct gs_command *cmd, const struct gs_op *copy, unsigned from, unsigned to,
                          const struct gs_events *wait, struct gs_events *done);

/* What this room keeps of a new context. -ENOMEM. And its end. */
int gs_paths_make(struct gs_context *ctx);
void gs_paths_free(struct gs_context *ctx);

#endif
