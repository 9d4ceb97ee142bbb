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

/* What a pooled context has: queues, made on first need; memory by which bytes go from one device to another, of which
 * the transfers that are under way have so many bytes; and whether a command has failed, so that what buffers hold is
 * lost: the error. */
struct gs_pool_queues {
    cl_command_queue of[GS_MAX_DEVICES][GS_POOL_LANES];
    struct gs_pool_host passing;
    uint64_t pass_pinned, pass_used;
    atomic_int failed;
};

/* Null with an error in *err. */
cl_command_queue gs_pool_queue(struct gs_context *ctx, unsigned device, enum gs_pool_lane lane, cl_int *err);

/* Transfers of all devices and contexts that have begun. Where ranges are rows of a rectangle there are very many: no
 * more than so many are under way. */
enum { GS_POOL_TRANSFERS = 1024 };
struct gs_pool_transfers {
    struct gs_pool_transfer {
        struct gs_context *ctx;
        cl_command_queue queue;
        cl_event end;
    } v[GS_POOL_TRANSFERS];
    size_t n;
};

/* Enqueues a transfer: a read to the host in its own queue, all others in that to the device. Until
 * gs_pool_transfers_end the host's memory of it must stay. */
cl_int gs_pool_transfer_begin(struct gs_pool_transfers *t, struct gs_context *ctx, unsigned device,
                              const struct gs_op *op);
/* From one device to another, at most GS_POOL_PIECE bytes: a read and a write that waits for it. Where their memory
 * lies is filled in. */
cl_int gs_pool_pass_begin(struct gs_pool_transfers *t, struct gs_context *ctx, unsigned from, struct gs_op *read,
                          unsigned to, struct gs_op *write);
/* Waits for all of them. If one has failed, so has its context; the error is the last such. */
cl_int gs_pool_transfers_end(struct gs_pool_transfers *t);

#endif
