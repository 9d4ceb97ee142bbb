/* SPDX-License-Identifier: MIT */
/* Large transfers between the application's pageable memory and a GPU: through a ring of pinned slots that a few
 * threads fill and drain. The driver's own way takes one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries 54. There are two rings: one for calls that carry a transfer out themselves, and one for the thread that does
 * so beside the application (transfer_worker.h) and must never wait for such a call. */
#ifndef GS_SHIM_STAGING_STAGING_H
#define GS_SHIM_STAGING_STAGING_H

#include "shim/order/command.h"
#include "shim/staging/pieces.h"
#include "shim/staging/way.h"

/* Is there a ring for a transfer of so many bytes? GS_FACT_RING or GS_FACT_THREAD; 0: the driver's own way. With the
 * context's lock held. The calls' ring is for those that block, in the order of the queue; a write that doesn't may
 * take it if gs_staging_flows. The rings are made once enough bytes have gone the slow way. */
unsigned gs_staging_way(struct gs_queue *q, const void *ptr, uint64_t bytes, bool blocking);

/* Fills a new buffer on the first device from the host's memory by the calls' ring; returns when that has ended. With
 * no lock held. */
cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes);

/* For a call that isn't to block: is the queue idle, or soon, so that the slots come free at the link's pace? Then the
 * ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA
 * 580.159). Waits for a fraction of what the driver would take, 1.5 ms at most. before: events that stand for all that
 * is before it in the queue; of none the queue is asked. */
bool gs_staging_flows(struct gs_queue *q, const struct gs_events *before, size_t bytes);
/* The context, which has had such a transfer, is going to carry another at once: whoever copies wakes meanwhile. */
void gs_staging_rouse(struct gs_context *ctx);

/* The calls' ring serves one transfer at a time. Without the context's lock; false only where `wait` is false and it is
 * busy. */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* What a carried transfer consisted of, as far as its times go: on each place the first piece and the last. */
struct gs_staged_ends {
    struct gs_events events;
    unsigned place[2 * GS_MAX_DEVICES];
};

/* Another piece, the last of its place so far. Takes the event over. */
cl_int gs_staged_note(struct gs_staged_ends *ended, unsigned place, cl_event event);

/* Carries n transfers out by the calls' ring as one, their pieces in turn, in the queue of each's place, after the
 * events of `wait`. All of them read, or all write. Returns once the host's memory may be used again: a read has ended
 * then. Without the context's lock: by units it takes that for each piece that it enqueues. */
cl_int gs_staging_carry(struct gs_context *ctx, const cl_command_queue queue[], const struct gs_staged *v, unsigned n,
                        const struct gs_events *wait, struct gs_staged_ends *ended);

/* Are there the queues that the other ring takes for these? Makes them on first need, but not in a callback. */
bool gs_staging_may_go_beside(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool profiling);

/* The same by the other ring, for its one thread alone: in queues of its own, with profiles if the application's has
 * them, which hold nothing else and wait for nothing. Returns when the transfer has ended. */
cl_int gs_staging_carry_beside(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool profiling,
                               struct gs_staged_ends *ended);

/* What this room keeps of a context goes with it. Null is allowed. */
void gs_staging_free(struct gs_staging *s);

#endif
