/* SPDX-License-Identifier: MIT */
/* From device to device through pinned host memory, in pieces: reading a piece overlaps with writing the piece before.
 *
 * It has to be pinned for more than speed: NVIDIA's driver takes what a non-blocking write from pageable memory is to
 * send when the call is made, before the events of its wait list (580.159: the bytes that an earlier read was yet to
 * bring were garbage). */
#ifndef GS_SHIM_TRANSFER_PINNED_H
#define GS_SHIM_TRANSFER_PINNED_H

#include "shim/transfer/sends.h"

/* In pieces of 2 MiB, which the host takes longer to enqueue, two H200s exchange 44 GB/s, of 4 MiB 74. */
enum { GS_PINNED_SLOT_BYTES = 4 * 1024 * 1024, GS_PINNED_SMALL_BYTES = 128 * 1024 };

struct gs_pinned;
/* Null is allowed. */
void gs_pinned_free(struct gs_pinned *p);

/* The way through a ring of the context's, where what several places take is read once. For so many bytes in all: few
 * go by a ring of small slots, as to make the other takes the host 30 ms; and so do all where the pinned path isn't
 * wanted for its speed. Null: there is no pinned memory to be had. */
const struct gs_passage *gs_pinned_passage_for(struct gs_context *ctx, uint64_t bytes);

/* Between devices of servers (gs_remote_is_direct): do its pieces stay there, so that the ring holds none of their
 * bytes? */
bool gs_pinned_is_direct(const struct gs_context *ctx, const struct gs_send *send);

#endif
