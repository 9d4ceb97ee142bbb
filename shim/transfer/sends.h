/* SPDX-License-Identifier: MIT */
/* Carries sends by memory that source and targets both reach, piece by piece: a piece leaves its source while targets
 * take the piece before. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_TRANSFER_SENDS_H
#define GS_SHIM_TRANSFER_SENDS_H

#include "shim/report/report.h"
#include "shim/put/put.h"
#include "shim/transfer/rounds.h"
#include "shim/transfer/windows.h"

/* The memory that pieces go through: pinned memory of the host's, or a window of each place. */
struct gs_passage {
    struct gs_ring *ring;             /* one; of windows, one for each place; null: the driver's own copy */
    const struct gs_windows *windows; /* null: by pinned memory */
    cl_kernel pack;                   /* packs several pieces of a window (pack.h); or null */
};

/* Enqueues what is left of joined sends. With a root, the bytes are noted at the targets (gs_pending_add), and leave by
 * GS_LEAVE_QUEUE, so that they don't wait for bytes arriving at their source; without a root by GS_COPY_QUEUE. After an
 * error pieces on their way still arrive: later commands wait for them, and their bytes don't count as valid. */
cl_int gs_sends_carry(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends,
                      const struct gs_passage *passage);

/* Called when the last piece for a target is enqueued. */
cl_int gs_sends_end(struct gs_mem *root, const struct gs_send *send, const struct gs_target *to);

#endif
