/* SPDX-License-Identifier: MIT */
/* Large transfers between the application's pageable memory and a GPU: through a ring of pinned slots that a few
 * threads fill and drain. The driver's own way takes one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries 54. Calls carry a transfer out themselves, or a thread does so beside the application (transfer_worker.h).
 * Either begins once all earlier commands of the transfer have ended: the holder of the ring waits for the device
 * alone. */
#ifndef GS_SHIM_STAGING_STAGING_H
#define GS_SHIM_STAGING_STAGING_H

#include "shim/order/command.h"
#include "shim/staging/pieces.h"
#include "shim/staging/way.h"

/* Is there a ring for a transfer of so many bytes? GS_FACT_RING or GS_FACT_THREAD; 0: the driver's own way. With the
 * context's lock held. Calls carry out what blocks; and a write that doesn't, if gs_staging_queue_idle. The ring is
 * made once enough bytes have gone the slow way. */
unsigned gs_staging_way(struct gs_queue *q, const void *ptr, uint64_t bytes, bool blocking);
/* For a buffer that is being made. */
bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes);

/* Fills a new buffer on the first device from the host's memory by the calls' ring; returns when that has ended. With
 * no lock held. */
cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes);

/* For a call that isn't to block: is the queue idle, or soon, so that the slots come free at the link's pace? Then the
 * ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA
 * 580.159). Waits for a fraction of what the driver would take, 1.5 ms at most. before: further events. */
bool gs_staging_queue_idle(struct gs_queue *q, const struct gs_events *before, size_t bytes);

/* The ring serves one transfer at a time. Without the context's lock; false only where `wait` is false and it is busy.
 */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* What a carried transfer consisted of, as far as its times go: on each place the first piece and the last. */
struct gs_staged_ends {
    struct gs_events events;
    unsigned place[2 * GS_MAX_DEVICES];
};

/* Another piece, the last of its place so far. Takes the event over. */
cl_int gs_staged_note(struct gs_staged_ends *ended, unsigned place, cl_event event);

/* Carries n transfers out as one, their pieces in turn, by the ring, which the caller has entered, in queues of the
 * ring's own; all earlier commands have ended. All of them read, or all write. Returns once the host's memory may be
 * used again: a read has ended then, and with `waits` a write has. With `timed` its events have profiles: on an H200 a
 * piece of 1 MiB takes 12 us more so. */
cl_int gs_staging_carry(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool timed, bool waits,
                        struct gs_staged_ends *ended);

/* Frees this room's part of a context. Null is allowed. */
void gs_staging_free(struct gs_staging *s);

#endif
