/* SPDX-License-Identifier: MIT */
/* From GPU to GPU through windows: native buffer to the window on its own GPU, window to native buffer on the other.
 * The windows are opened by a thread of ours the first time that bytes have to go between GPUs; until then, and where
 * they can't be had, these go by pinned memory. A process of its own tries the windows first, once, as drivers may
 * crash there: the answer is kept in the cache. */
#ifndef GS_SHIM_TRANSFER_PEER_H
#define GS_SHIM_TRANSFER_PEER_H

#include "shim/transfer/sends.h"

/* The way through the windows; null: they aren't open. Begins to open them on the first call. */
const struct gs_passage *gs_peer_ready(struct gs_context *ctx);

/* The same, beginning nothing. */
const struct gs_passage *gs_peer_open(const struct gs_context *ctx);

/* Are they open, or could they be? Begins nothing. */
bool gs_peer_usable(const struct gs_context *ctx);

#endif
