/* SPDX-License-Identifier: MIT */
/* Large transfers between the application's pageable memory and a GPU: through a ring of pinned slots that a few
 * threads fill and drain. The driver's own way takes one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries 54. There are two rings: one for calls that carry a transfer out themselves, and one for the thread that does
 * so beside the application (carrier.h) and must never wait for such a call. */
#ifndef GS_SHIM_TRANSFER_STAGING_H
#define GS_SHIM_TRANSFER_STAGING_H

#include "shim/command.h"
#include "shim/transfer/pool.h"

/* A transfer of region[2] slices of region[1] rows between a memory object and the host's memory. */
struct gs_staged {
    cl_mem mem;
    unsigned place;
    bool image, write;             /* write: the host's bytes are only read */
    size_t element;                /* bytes of a texel; 1 of a buffer */
    size_t origin[3], region[3];   /* as the driver takes them: [0] in texels or bytes */
    size_t row_pitch, slice_pitch; /* of a buffer */
    struct gs_rows host;
};

/* A run of bytes. */
struct gs_staged gs_staged_run(cl_mem mem, unsigned place, bool write, uint64_t offset, uint64_t bytes, void *ptr);

/* How a transfer of so many bytes goes: by the driver's own way, in the application's call, or beside it. */
enum gs_staging_way { GS_NOT_STAGED, GS_STAGED_HERE, GS_STAGED_BESIDE };

/* Which ways there are for it; with the context's lock held. HERE is for those that block, in the order of the queue; a
 * write that doesn't may take it if gs_staging_flows. The rings are made once enough bytes have gone the slow way. */
enum gs_staging_way gs_staging_way(struct gs_queue *q, const void *ptr, uint64_t bytes, bool blocking);

/* Is a new buffer on the first device to be filled from the host's memory by the calls' ring? And does so; returns when
 * it has ended. With no lock held. */
bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes);
cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes);

/* For a call that isn't to block: is the queue idle, or soon, so that the slots come free at the link's pace? Then the
 * ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA
 * 580.159). Waits for a fraction of what the driver would take, 1.5 ms at most. */
bool gs_staging_flows(struct gs_queue *q, size_t bytes);
void gs_staging_free(struct gs_staging *s);

/* The calls' ring serves one transfer at a time. Without the context's lock; false only where `wait` is false and it is
 * busy. */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* Carries a transfer out by the calls' ring, in the queue given, after the events of `wait`. Returns once the host's
 * memory may be used again: a read has ended then. The first and the last of the pieces' events go to `ended`. */
cl_int gs_staging_carry(struct gs_context *ctx, cl_command_queue queue, const struct gs_staged *t, cl_uint n_wait,
                        const cl_event *wait, struct gs_events *ended);

/* The same by the other ring, for its one thread alone: in a queue of its own, with profiles if the application's has
 * them, which holds nothing else and waits for nothing. Returns when the transfer has ended. */
cl_int gs_staging_carry_beside(struct gs_context *ctx, const struct gs_staged *t, bool profiling,
                               struct gs_events *ended);

#endif
