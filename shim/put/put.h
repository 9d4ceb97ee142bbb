/* SPDX-License-Identifier: MIT */
/* Commands that gpusparc enqueues itself (transfers between places, copies, merges), in any queue. Without a daemon the
 * driver gets the command as it is. With a daemon the command is cut into pieces of at most a chunk, and each goes once
 * a unit is granted; the command keeps its place in the queue and has one event. Nothing blocks.
 *
 * The resource is the link for all that moves between the host's memory and a device. It is the GPU whose queue does
 * the work for kernels, for copies within a device's memory, and for copies through a window: a window uses the link
 * between two GPUs, not the host's, and many pairs may exchange at a time. So they count in a task's GPU segments. */
#ifndef GS_SHIM_PUT_PUT_H
#define GS_SHIM_PUT_PUT_H

#include "shim/schedule/dispatch.h"
#include "shim/put/cut.h"

/* From now on what this thread enqueues is for this command of the application, and goes by units if the command does,
 * until the caller puts the old value back, which is returned; *cmd must live so long. Null: straight to the driver. */
const struct gs_command *gs_set_unit_owner(const struct gs_command *cmd);

/* The command that this thread enqueues for, if it goes by units; or null. */
const struct gs_command *gs_put_now(void);

/* The most bytes of one unit of this operation, within one device's memory or to and from the host. */
uint64_t gs_put_chunk(const struct gs_command *cmd, const struct gs_op *op);

/* The memory that a copy between two buffers or images goes through. */
enum gs_via {
    GS_VIA_MEMORY, /* one device's */
    GS_VIA_WINDOW, /* another device's, by the link between the two */
    GS_VIA_HOST    /* two devices' and the host's, the driver's own way */
};

/* The most bytes of one unit for this thread, of `bytes` that go through the host's memory or through windows. */
uint64_t gs_put_most(uint64_t bytes, enum gs_via via);

/* Enqueues op. `via` matters only for copies. `event` may be null. */
cl_int gs_put(cl_command_queue queue, const struct gs_op *op, enum gs_via via, cl_uint n_wait, const cl_event *wait,
              cl_event *event);

/* Runs the command by units, one for each piece, even without gs_set_unit_owner. *to says where they go. */
cl_int gs_run_op(const struct gs_units *to, const struct gs_op_run *run, cl_event *end);

/* A kernel of ours over `items` work-items, in work-groups of `local` that depend neither on each other nor on
 * get_group_id. Where devices have memory of their own, a unit has sixteen times as many work-groups as of an
 * application's kernel: ours are small. */
struct gs_put_arg {
    size_t size;
    const void *value;
};
struct gs_put_launch {
    cl_kernel kernel;
    const struct gs_put_arg *args;
    cl_uint n_args;
    uint64_t items;
    size_t local;
};
cl_int gs_put_kernel(cl_command_queue queue, const struct gs_put_launch *launch, cl_uint n_wait, const cl_event *wait,
                     cl_event *event);

/* A unit of this thread may have so many work-groups of a kernel on the place; 0: any number, nothing goes by units. */
uint64_t gs_put_groups_most(unsigned place);
/* Enqueues a launch of no more work-groups, of a kernel that has its arguments. *event is the caller's. */
cl_int gs_put_groups(cl_command_queue queue, const struct gs_op *launch, cl_event *event);

/* ---- the application's compound events ---- */

/* Makes a marker in the application's queue that waits for cmd->ended, events of other devices or queues, and hands the
 * marker out as *event, unless `event` is NULL. */
cl_int gs_finish_command(const struct gs_command *cmd, cl_event *event);

/* gs_finish_command with the one event `end`, of a command on that place. Takes `end` over. */
cl_int gs_finish_single(const struct gs_command *cmd, cl_event end, unsigned place, cl_event *event);

/* clReleaseEvent, also for events that gs_finish_command has made. */
cl_int gs_release_event(cl_event event);

/* Hands the event out; releases it if nobody wants it (`to` null). */
static inline void gs_event_give(cl_event event, cl_event *to)
{
    if (to)
        *to = event;
    else
        gs_release_event(event);
}

/* ---- transfers carried by a call ----
 *
 * A call of the application may carry its transfer itself, by queues of ours, with the context's lock free. For all
 * others the command is a marker in its queue. The marker is made at the transfer's end, or earlier by another thread
 * that enqueues a command there meanwhile: the command then comes after the whole transfer, and doesn't wait. */

/* gs_carry_begin to gs_carry_end: with the context's lock. */
static inline void gs_carry_begin(struct gs_command *cmd, void (*on_mark)(struct gs_command *cmd))
{
    cmd->on_mark = on_mark;
    cmd->marker = NULL;
    gs_queue_carry(cmd->q, cmd);
}

/* Makes the marker of the transfer that a call carries in this queue, if any. Without memory for that, commands that
 * are enqueued now may see bytes from before the transfer. */
__attribute__((cold)) void gs_carry_mark(struct gs_queue *q);

/* The transfer has ended, with err and the events cmd->ended. *event (or null): the command's. */
cl_int gs_carry_end(struct gs_command *cmd, cl_int err, cl_event *event);

/* Locks the queue's context, so that a command can be enqueued in the queue. */
static inline void gs_queue_lock(struct gs_queue *q)
{
    pthread_mutex_lock(&q->o.ctx->lock);
    if (gs_queue_carried(q))
        gs_carry_mark(q);
}

/* For a command that is enqueued without the context's lock. */
static inline void gs_queue_enter(struct gs_queue *q)
{
    if (!gs_queue_carried(q))
        return;
    gs_queue_lock(q);
    pthread_mutex_unlock(&q->o.ctx->lock);
}

#endif
