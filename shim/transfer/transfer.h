/* SPDX-License-Identifier: MIT */
/* Moves bytes between the places of a memory object, by the path that suits these places. With the context's lock held;
 * only gs_peer_ready may block: each transfer waits for cmd->before and gives back an event. */
#ifndef GS_SHIM_TRANSFER_TRANSFER_H
#define GS_SHIM_TRANSFER_TRANSFER_H

#include "shim/put/put.h"
#include "shim/report/report.h"
#include "shim/transfer/rounds.h"
#include "shim/transfer/windows.h"

/* Copies bytes of a root between places that have replicas. Of each send the caller sets `from`, `rect` (of an image: a
 * range of bytes), and the target's place, part and `done`. Sends travel at the same time where devices can: no send
 * may read bytes that another send writes. Notes the bytes at the targets. After an error some may be under way. */
cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends);

/* Copies bytes between two buffers, in one place or two (scratch memory of a merge); waits for `wait` alone. */
cl_int gs_transfer_buffer(struct gs_command *cmd, const struct gs_op *copy, unsigned from, unsigned to,
                          const struct gs_events *wait, struct gs_events *done);

/* Makes and frees the context's struct gs_paths. -ENOMEM. */
int gs_paths_make(struct gs_context *ctx);
void gs_paths_free(struct gs_context *ctx);

/* ---- passages from device to device, made on first need ----
 *
 * Through pinned host memory, in pieces: one piece is read while the piece before is written. The memory must be
 * pinned, and not for speed alone: NVIDIA's driver (580.159) copies the bytes of a non-blocking write from pageable
 * memory during the call, before the wait list's events, when an earlier read may not have brought them.
 *
 * From GPU to GPU through windows: from the buffer to the window on the same GPU, from the window to the buffer on the
 * other GPU. A thread of ours opens windows the first time that bytes have to travel between GPUs; until then, and
 * where windows can't be had, bytes go by pinned memory. A probe in a process of its own tries windows first, since
 * drivers may crash there; its answer is kept in the cache. */

/* The memory that pieces go through: pinned memory of the host's, or a window of each place. */
struct gs_passage {
    struct gs_ring *ring;             /* one; of windows, one for each place; null: the driver's own copy */
    const struct gs_windows *windows; /* null: by pinned memory */
    cl_kernel pack;                   /* packs several pieces of a window (pack.h); or null */
};

/* Enqueues what is left of joined sends. With a root, the bytes are noted at the targets (gs_pending_add), and leave by
 * GS_LEAVE_QUEUE, so that they don't wait for bytes arriving at their source; without a root by GS_COPY_QUEUE. After an
 * error pieces on their way still arrive: later commands wait for them, and their bytes don't count as valid. */
cl_int gs_sends_enqueue(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends,
                        const struct gs_passage *passage);

/* What this room knows of a context. */
struct gs_paths {
    struct gs_ring pinned, pinned_small; /* for many bytes, and for few */
    uint64_t making_ns;                  /* time spent making both rings */
    struct gs_peer *peer;
    uint64_t between_devices; /* bytes that went from device to device so far */
};

/* The time that was spent making memory for transfers, to be taken off times that are learnt. */
static inline uint64_t gs_paths_made_ns(const struct gs_context *ctx)
{
    return ctx->paths->making_ns;
}

/* Null is allowed. */
void gs_peer_free(struct gs_peer *p);

/* Does the send go from server to server (gs_remote_is_direct), so that none of its bytes pass through the ring? */
bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send);

/* The passage by windows; null: not open. The first call begins to open it, and with GPUSPARC_TRANSFER=peer waits. */
const struct gs_passage *gs_peer_ready(struct gs_context *ctx);

/* gs_peer_ready without opening anything. */
const struct gs_passage *gs_peer_open(const struct gs_context *ctx);

/* Are windows open, or could they be? Opens nothing. */
bool gs_peer_usable(const struct gs_context *ctx);

#endif
