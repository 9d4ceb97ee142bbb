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

/* ---- what bytes travel by from device to device, each made on first need ----
 *
 * Through pinned host memory, in pieces: reading a piece overlaps with writing the piece before. It has to be pinned
 * for more than speed: NVIDIA's driver takes what a non-blocking write from pageable memory is to send when the call is
 * made, before the events of its wait list (580.159: the bytes that an earlier read was yet to bring were garbage).
 *
 * From GPU to GPU through windows: native buffer to the window on its own GPU, window to native buffer on the other.
 * The windows are opened by a thread of ours the first time that bytes have to go between GPUs; until then, and where
 * they can't be had, these go by pinned memory. A process of its own tries the windows first, once, as drivers may
 * crash there: the answer is kept in the cache. */

/* A ring of pinned memory, which grows. */
struct gs_pinned {
    struct gs_passage passage;
    unsigned most; /* slots; fewer once no more memory could be had */
    struct gs_pinned_memory memory;
    struct gs_ring ring;
};

/* What this room knows of a context. */
struct gs_paths {
    struct gs_pinned pinned, pinned_small; /* much or little at a time */
    uint64_t making_ns;                    /* what making these has taken so far: of commands' times no part */
    struct gs_peer *peer;
    uint64_t between_devices; /* bytes that went from device to device so far */
};

/* Null is allowed. */
void gs_peer_free(struct gs_peer *p);

/* Between devices of servers (gs_remote_is_direct): do its pieces stay there, so that the ring holds none of their
 * bytes? */
bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send);

/* The way through the windows; null: they aren't open. Begins to open them on the first call. */
const struct gs_passage *gs_peer_ready(struct gs_context *ctx);

/* The same, beginning nothing. */
const struct gs_passage *gs_peer_open(const struct gs_context *ctx);

/* Are they open, or could they be? Begins nothing. */
bool gs_peer_usable(const struct gs_context *ctx);

#endif
