/* SPDX-License-Identifier: MIT */
/* What gpusparc enqueues on its own account (transfers between places, copies, merges), on any queue: as the driver
 * takes it, or, for a scheduled application, by units. Then it goes in pieces of at most a chunk, each once the daemon
 * has granted a unit of what it uses; it keeps its place in its queue, and has one event all the same. Nothing blocks.
 *
 * Which resource: the link for all that moves between the host's memory and a device; for copies within a device's
 * memory, for copies through a peer window and for kernels the GPU whose queue does the work. A window is the link
 * between two GPUs, not the host's, and many pairs may exchange at a time. So `gpusparc profile` counts these copies
 * and merges in the GPU segments of a task. */
#ifndef GS_SHIM_PUT_PUT_H
#define GS_SHIM_PUT_PUT_H

#include "shim/schedule/dispatch.h"
#include "shim/put/op.h"

/* For whom this thread enqueues. */
struct gs_putting {
    struct gs_queue *q;
    struct gs_job job;
    struct gs_taken *spent; /* what it takes is added to it; or null */
};

/* From now on by units of that job, which stays until set back; null: straight to the driver. Returns the former. */
const struct gs_putting *gs_put_for(const struct gs_putting *p);

/* For whom this thread enqueues by units; or null. */
const struct gs_putting *gs_put_now(void);

/* The most bytes of a unit of it, which a device does on its own memory or with the host. */
uint64_t gs_put_chunk(const struct gs_putting *p, const struct gs_op *op);

/* What a copy between two buffers or images goes through. */
enum gs_via {
    GS_VIA_MEMORY, /* one device's */
    GS_VIA_WINDOW, /* that of another, by the link between the two */
    GS_VIA_HOST    /* two devices' and the host's: the driver's own way */
};

/* Of so many bytes that are to travel by the host at a time, or by windows, where what leaves its place is a copy
 * within it, how many are one unit for who this thread enqueues for. */
uint64_t gs_put_most(uint64_t bytes, enum gs_via via);

/* `via` counts of copies alone. `event` may be null. */
cl_int gs_put(cl_command_queue queue, const struct gs_op *op, enum gs_via via, cl_uint n_wait, const cl_event *wait,
              cl_event *event);

/* A command that moves bytes or texels, cut into pieces: each a unit of `resource`; the first in `queue` after the wait
 * list. *end is the caller's. */
struct gs_op_run {
    struct gs_op op;
    struct gs_cut cut;
    unsigned place, resource;
};
/* Goes by units, whoever this thread enqueues for. */
cl_int gs_run_op(struct gs_queue *q, const struct gs_op_run *run, cl_command_queue queue, cl_uint n_wait,
                 const cl_event *wait, cl_event *end);

/* Uses memory of a place once, in the command's order, where the place's copies are: a driver may find only then that
 * there is none. *event is the caller's. */
cl_int gs_put_touch(struct gs_command *cmd, unsigned place, cl_mem mem, cl_event *event);

/* A kernel of ours over so many work-items in work-groups of `local`, which must not depend on each other nor on
 * get_group_id; sets its arguments. Its work-groups are small: a unit has sixteen times as many as of an application's
 * kernel where the devices have memory of their own. */
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

/* So many work-groups of a kernel are one unit of the place's for this thread; 0: all, as nothing goes by units. */
uint64_t gs_put_groups_most(unsigned place);
/* A launch of no more than that, whose kernel has its arguments. The event is the caller's. */
cl_int gs_put_groups(cl_command_queue queue, const struct gs_op *launch, cl_event *event);

/* ---- the application's events that stand for several commands ---- */

/* `ended` are those on other devices or queues. Makes a marker in the application's queue that waits for them, and
 * hands it out through `event` if that isn't NULL. */
cl_int gs_finish_command(struct gs_queue *q, cl_command_type type, const struct gs_events *ended,
                         const unsigned *device, cl_event *event);

/* clReleaseEvent, for an event that may be one of these. */
cl_int gs_release_event(cl_event event);

/* ---- a transfer that the application's call carries by queues of our own, while the context's lock is free. Its queue
 * gets its marker, the command to everybody else, when it has ended; or earlier, from whoever enqueues something in
 * that queue meanwhile: that comes after all of the transfer then, and the call doesn't wait for it. ---- */

struct gs_carry {
    const struct gs_command *cmd;
    void (*marked)(struct gs_carry *c); /* called once it has its marker, if that is before its end */
    struct gs_event *end;               /* what that marker waits for: a user event; null: there is none yet */
    cl_event marker;
};

/* All these with the context's lock. cmd and `marked` are set; from here until gs_carry_end. */
static inline void gs_carry_begin(struct gs_carry *c)
{
    atomic_store(&c->cmd->q->carried, c);
}

/* Makes the marker of what is carried in this queue, if there is something. Without memory for that nothing happens:
 * what comes now may find some of the bytes of before. */
__attribute__((cold)) void gs_carry_mark(struct gs_queue *q);

/* err: of the transfer, which ends with `ended`, each of a place. *event, unless `event` is null: the command's. */
cl_int gs_carry_end(struct gs_carry *c, cl_int err, const struct gs_events *ended, const unsigned *place,
                    cl_event *event);

/* Locks the queue's context, for something to be enqueued in the queue. */
static inline void gs_queue_lock(struct gs_queue *q)
{
    pthread_mutex_lock(&q->o.ctx->lock);
    if (atomic_load(&q->carried))
        gs_carry_mark(q);
}

/* For something that is enqueued without that lock. */
static inline void gs_queue_enter(struct gs_queue *q)
{
    if (!atomic_load(&q->carried))
        return;
    gs_queue_lock(q);
    pthread_mutex_unlock(&q->o.ctx->lock);
}

#endif
