/* SPDX-License-Identifier: MIT */
/* What the entry points share: looking handles up, asking, handing on. */
#ifndef GS_SHIM_API_H
#define GS_SHIM_API_H

#include "common/lock/locked.h"
#include "shim/put/put.h"
#include "shim/report/watch.h"

/* The result of a call that makes nothing, with its error. */
static inline void *gs_refuse(cl_int *errcode_ret, cl_int err)
{
    gs_set_error(errcode_ret, err);
    return NULL;
}

/* The end of a clRetain... that the driver has answered with `err`. */
cl_int gs_retained(cl_int err, enum gs_type type, const void *handle);

/* The end of a clRelease... that the driver has answered with `err`. last: the object without a reference, or null. */
static inline cl_int gs_released(struct gs_object *last, cl_int err)
{
    if (last)
        gs_drop(last);
    return err;
}

/* Frees a queue's record with all that rooms have hung off it. */
void gs_queue_free(struct gs_object *queue);

/* What a context keeps for the entry points. With its lock held. */
struct gs_kept {
    cl_sampler sampler[256];  /* the last that the application released: shim/api/sampler.c; owned */
    unsigned oldest;          /* of these */
    struct gs_events at_home; /* what brought all home when a user event was made last */
};

/* Brings all bytes home, and counts so many user events without a status more; none on an error. */
cl_int gs_come_home(struct gs_context *c, int user_events);

/* Puts the context into the list of all, or takes it out: listed while the application has it or its queues. */
void gs_context_list_update(struct gs_context *c);

/* The application retains a queue. again: our record, if the application had released the queue before; null: an
 * unknown queue, whose record may be gone. */
void gs_queue_retained(cl_command_queue handle, struct gs_queue *again);

/* From now on nothing is split in any context: the application uses a feature that we can't follow. */
void gs_give_up(const char *reason);

/* gs_give_up for this context alone. */
void gs_give_up_context(struct gs_context *c, const char *reason);

/* An address to hand out for a driver's function whose parameters nobody here knows: gives up, then calls `theirs`. */
void *gs_stand_in(void *theirs, const char *reason);

/* Commands that we haven't seen may be in any queue of given-up contexts: none of these counts as drained. */
void gs_touch_given_up(void);

/* Makes a record for a program of unknown origin, to follow its kernels' arguments. NULL: the context is unknown. */
struct gs_program *gs_program_of_unknown(cl_program handle);

/* GS_TOUCH(queue) for a block that enqueues a command which we don't look into, without the context's lock. The command
 * gets numbers in the queue's timeline before and after, so that no later command counts as right behind an earlier
 * one: a thread that waits meanwhile may see the first number, and not wait for the command. */
static inline struct gs_queue *gs_touch_queue(cl_command_queue queue)
{
    struct gs_queue *q = gs_find(GS_QUEUE, queue);
    if (q) {
        gs_queue_enter(q);
        gs_timeline_enqueue_untracked(q->timeline);
        gs_queue_close(queue);
    }
    return q;
}
static inline void gs_touch_end(struct gs_queue *const *q)
{
    if (*q)
        gs_timeline_enqueue_untracked((*q)->timeline);
}
#define GS_TOUCH(queue)                                                                                                \
    struct gs_queue *const gs_touched_ __attribute__((cleanup(gs_touch_end))) = gs_touch_queue(queue)

/* Ends a call that enqueued a command of shared virtual memory, which goes without units; returns err, the call's.
 * reads: the host gets bytes, as a job's results; blocking: the call has waited. */
cl_int gs_svm_end(cl_int err, bool reads, bool blocking);

/* Must a context's commands be looked at before they are handed on? Yes with several devices, with transfers through
 * pinned memory, and under a daemon. Pooled contexts are shim/pooled's. */
static inline bool gs_handles_commands(const struct gs_context *ctx)
{
    return ctx->followed || (!ctx->pooled && gs_scheduled());
}

/* Initializes the command of an entry point from the entry point's own parameters (command_queue, event_wait_list,
 * ...); the arguments are fields of struct gs_op. */
#define GS_COMMAND(...)                                                                                                \
    {                                                                                                                  \
        .op = {__VA_ARGS__}, .queue = command_queue, .n_wait = num_events_in_wait_list, .wait = event_wait_list,       \
        .event = event                                                                                                 \
    }

/* Our record of a memory object in the command's context; null: none, and the driver says what is wrong. */
static inline struct gs_mem *gs_command_mem(const struct gs_command *cmd, cl_mem handle)
{
    struct gs_mem *m = cmd->q ? gs_find(GS_MEM, handle) : NULL;
    return m && m->o.ctx == cmd->ctx ? m : NULL;
}

/* Has an event of the wait list failed already, because of a user event? Then the driver gets the command as it is. */
static inline bool gs_wait_has_failed(const struct gs_context *ctx, const struct gs_command *cmd)
{
    bool failed = false;
    for (cl_uint i = 0; atomic_load(&ctx->user_event_failed) && cmd->wait && i < cmd->n_wait && !failed; i++)
        failed = cmd->wait[i] && gs_event_status(cmd->wait[i]) < 0;
    return failed;
}

/* Finds the command's queue, sets cmd->q and cmd->ctx if we handle the context's commands, and counts the command in
 * the queue's timeline, and its bytes for --stats. (Images of sub-devices need help even with one device.) Closes the
 * queue's open unit (gs_queue_close), unless the command is a blocking read, which does so itself if need be. Returns
 * the record of `handle`, a memory object of that context; null: none. */
static inline struct gs_mem *gs_command_begin_on(struct gs_command *cmd, cl_mem handle)
{
    struct gs_queue *q = gs_find(GS_QUEUE, cmd->queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, handle) : NULL;
    if (gs_settings()->stats && gs_op_crosses_host(&cmd->op))
        gs_report_transfer(&cmd->op);
    if (q) {
        gs_timeline_enqueue(q->timeline);
        if (cmd->op.kind != GS_OP_READ || !cmd->op.blocking)
            gs_queue_close(cmd->queue);
    }
    if (!q || !(gs_handles_commands(q->o.ctx) || (gs_op_is_of_image(&cmd->op) && gs_group()->parent)) ||
        gs_wait_has_failed(q->o.ctx, cmd))
        return NULL;
    cmd->q = q;
    cmd->ctx = q->o.ctx;
    return m && m->o.ctx == cmd->ctx ? m : NULL;
}

/* gs_command_begin_on for a command of several objects, or none. Null: the driver gets the command as it is. */
static inline struct gs_queue *gs_command_begin(struct gs_command *cmd)
{
    gs_command_begin_on(cmd, NULL);
    return cmd->q;
}

/* A wait has seen the event fail, perhaps before all commands ended that the event stands for. Waits for these, which
 * still use the application's memory. */
void gs_await_parts(cl_event event);

#endif
