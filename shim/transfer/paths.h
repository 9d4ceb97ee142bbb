/* SPDX-License-Identifier: MIT */
/* What bytes travel by from device to device, each made on first need. With the context's lock held.
 *
 * Through pinned host memory, in pieces: reading a piece overlaps with writing the piece before. It has to be pinned
 * for more than speed: NVIDIA's driver takes what a non-blocking write from pageable memory is to send when the call is
 * made, before the events of its wait list (580.159: the bytes that an earlier read was yet to bring were garbage).
 *
 * From GPU to GPU through windows: native buffer to the window on its own GPU, window to native buffer on the other.
 * The windows are opened by a thread of ours the first time that bytes have to go between GPUs; until then, and where
 * they can't be had, these go by pinned memory. A process of its own tries the windows first, once, as drivers may
 * crash there: the answer is kept in the cache. */
#ifndef GS_SHIM_TRANSFER_PATHS_H
#define GS_SHIM_TRANSFER_PATHS_H

#include "shim/transfer/sends.h"

/* What this room knows of a context. */
struct gs_paths {
    struct gs_pinned *pinned, *pinned_small; /* much or little at a time */
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
