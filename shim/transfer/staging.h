/* SPDX-License-Identifier: MIT */
/* Large blocking transfers between the application's pageable memory and a GPU: through a ring of pinned slots that a
 * few threads fill and drain. The driver's own way takes one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries
 * 54. With the context's lock held; blocks, as the application's call does. */
#ifndef GS_SHIM_TRANSFER_STAGING_H
#define GS_SHIM_TRANSFER_STAGING_H

#include "shim/command.h"

/* With the context's lock held: is this transfer for the ring? Makes the ring, and starts the threads, once enough
 * bytes have gone the slow way. */
bool gs_staging_takes(struct gs_queue *q, const void *ptr, size_t bytes);

/* For a call that isn't to block: is the queue idle, or soon, so that the slots come free at the link's pace? Then the
 * ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA 580.159).
 * Waits for a fraction of what the driver would take. */
bool gs_staging_flows(struct gs_queue *q, size_t bytes);
void gs_staging_free(struct gs_staging *s);

/* The ring serves one transfer at a time. Without the context's lock; false only where `wait` is false and it is busy.
 */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* Writes to the buffer at home, in the application's queue, after the events of `wait`. Returns once the memory may be
 * used again; the first and the last of its pieces' events go to `ended`. */
cl_int gs_staging_write(struct gs_queue *q, cl_mem home, uint64_t offset, uint64_t bytes, const void *ptr,
                        cl_uint n_wait, const cl_event *wait, struct gs_events *ended);

/* Reads from a place's buffer, in the queue given, and returns when all of it is there. Events as above. */
cl_int gs_staging_read(struct gs_queue *q, cl_command_queue queue, cl_mem mem, uint64_t offset, uint64_t bytes,
                       void *ptr, cl_uint n_wait, const cl_event *wait, struct gs_events *ended);

#endif
