/* SPDX-License-Identifier: MIT */
/* Our queues of each device, each in order, and the transfers that are under way in them. With the store locked. */
#ifndef GS_SHIM_POOLED_QUEUES_H
#define GS_SHIM_POOLED_QUEUES_H

#include "shim/driver/enqueue.h"
#include "shim/pooled/host.h"
#include "shim/record/objects.h"

/* A device's queues: its link carries both directions at once, and transfers beside a kernel. Nothing orders one
 * queue's commands after another's. */
enum gs_pool_lane { GS_POOL_TO_DEVICE, GS_POOL_TO_HOST, GS_POOL_KERNELS, GS_POOL_LANES };

/* What a pooled context has. */
struct gs_pool_queues {
    cl_command_queue of[GS_MAX_DEVICES][GS_POOL_LANES]; /* made on first need */
    struct gs_pool_host passing;     /* memory of the host's through which bytes go from device to device */
    uint64_t pass_pinned, pass_used; /* bytes of it that are pinned; that transfers under way use */
    atomic_int failed;               /* the error of a failed command, which has lost the buffers' bytes; or 0 */
};

/* Null with an error in *err. */
cl_command_queue gs_pool_queue(struct gs_context *ctx, unsigned device, enum gs_pool_lane lane, cl_int *err);

/* Enqueues a transfer: a read to the host in its own queue, all others in that to the device. Until
 * gs_pool_transfers_end the host's memory of it must stay. */
cl_int gs_pool_begin(struct gs_context *ctx, unsigned device, const struct gs_op *op);
/* From one device to another, at most GS_POOL_PIECE bytes: a read, and a write that waits for the read. Fills in the
 * host's memory of both. */
cl_int gs_pool_pass_begin(struct gs_context *ctx, unsigned from, struct gs_op *read, unsigned to, struct gs_op *write);
/* Waits for all transfers. Marks the context of a failed transfer as failed; returns the last such error. */
cl_int gs_pool_transfers_end(void);

#endif
