/* SPDX-License-Identifier: MIT */
/* Pinned memory of the host's, which devices read and write at their link's pace: ours, with a buffer of the driver's
 * around it; or the driver's own, a buffer that is mapped for as long as it lives. For servers' devices, which read
 * and write by sockets, any memory does. */
#ifndef GS_SHIM_STAGING_PINNED_MEMORY_H
#define GS_SHIM_STAGING_PINNED_MEMORY_H

#include "shim/order/command.h"

struct gs_pinned_memory {
    cl_mem buffer; /* null: the memory is plain, of so many bytes */
    size_t plain_bytes;
    cl_command_queue queue; /* it is mapped by; or null */
    char *base;             /* null: there is none */
    cl_event mapped;        /* until which it isn't there; or null. Owned */
};

/* Without `waits` it is there once `mapped` has ended: it may be a callback of the driver's that wants it, and the
 * driver's thread must not wait for itself. On an error there is nothing to free. */
cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool waits);

/* The same for memory that the application never sees: ours where that is quicker, and there at once. A child process
 * doesn't have it. */
cl_int gs_pinned_memory_take(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool waits);
/* Lets it go once these have ended, the commands under way that read or write it; where it is ours and there are some,
 * with the process. */
void gs_pinned_memory_give(struct gs_pinned_memory *m, const struct gs_events *uses);

/* No command that reads or writes it is under way. */
void gs_pinned_memory_free(struct gs_pinned_memory *m);

#endif
