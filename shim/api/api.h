/* SPDX-License-Identifier: MIT */
/* For the entry points: look up, ask, forward. */
#ifndef GS_SHIM_API_H
#define GS_SHIM_API_H

#include "common/lock/locked.h"
#include "shim/put/put.h"

/* What a call returns that makes nothing, with its error. */
static inline void *gs_refuse(cl_int *errcode_ret, cl_int err)
{
    gs_set_error(errcode_ret, err);
    return NULL;
}

/* The end of a clRetain..., to which the driver has said `err`. */
cl_int gs_retained(cl_int err, enum gs_type type, const void *handle);

/* The end of a clRelease..., of which the driver has said `err`; last: what the application held for the last time. */
static inline cl_int gs_released(struct gs_object *last, cl_int err)
{
    if (last)
        gs_drop(last);
    return err;
}

/* What hangs off a queue. */
void gs_queue_free(struct gs_object *queue);

/* What a context keeps for the entry points. With its lock held. */
struct gs_kept {
    cl_sampler sampler[256];  /* the last that the application released: shim/api/sampler.c; owned */
    unsigned oldest;          /* of these */
    struct gs_events at_home; /* what brought all home when a user event was made last */
};

/* Our own function of that name, or NULL. */
void *gs_own_function(const char *name);

/* Brings everything home, and counts user events that have no status yet: none on an error. */
cl_int gs_come_home(struct gs_context *c, int user_events);

/* Puts the context into the list of all, or takes it out: it is there while the application has it or a queue of it. */
void gs_context_list(struct gs_context *c);

/* The application retains a queue of the driver's. again: ours of it, if the application had let it go; or null: what
 * we knew of it may be gone. */
void gs_queue_retained(cl_command_queue handle, struct gs_queue *again);

/* From now on nothing is split, in any context: the application uses what we can't follow. */
void gs_give_up(const char *reason);

/* The same in this context alone. */
void gs_give_up_context(struct gs_context *c, const char *reason);

/* What to hand out for a function of the driver's of which nobody here knows the parameters: an address that goes on to
 * it, but gives up first, for that reason. */
void *gs_stand_in(void *theirs, const char *reason);

/* Something that we don't see may have been enqueued in any queue of such contexts. */
void gs_given_up_enqueued(void);

/* Tracks a program that came by a way we don't know, so that its kernels' arguments can be followed. NULL: its context
 * is none of ours. */
struct gs_program *gs_program_of_unknown(cl_program handle);

/* In this block a command that we don't look into is enqueued, without the context's lock: the commands after the block
 * don't follow at once on those before it. The timeline is raised at the end as well: a thread that waits in between
 * may see the first number, and not wait for the command. */
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

/* A command of shared virtual memory, which the driver carries out without units, has been enqueued, or not (err, which
 * it returns). reads: the host gets bytes by it, as a job's results; blocking: the call has waited for it. */
cl_int gs_svm_read(cl_int err, bool reads, bool blocking);

/* Is there more to do with a context's commands than to hand them on: has it more than one device, or transfers that go
 * through pinned memory, or do they go by units? Those of pooled contexts are shim/pooled's. */
static inline bool gs_handles_commands(const struct gs_context *ctx)
{
    return ctx->followed || (!ctx->pooled && gs_scheduled());
}

/* The command of an entry point, whose parameters have the specification's names; the fields are those of struct gs_op.
 */
#define GS_COMMAND(...)                                                                                                \
    {                                                                                                                  \
        .op = {__VA_ARGS__}, .queue = command_queue, .n_wait = num_events_in_wait_list, .wait = event_wait_list,       \
        .event = event                                                                                                 \
    }

/* The object if it is one of ours and of the command's context, whose lock protects it; else null: the driver says what
 * is wrong. */
static inline struct gs_mem *gs_command_mem(const struct gs_command *cmd, cl_mem handle)
{
    struct gs_mem *m = cmd->q ? gs_find(GS_MEM, handle) : NULL;
    return m && m->o.ctx == cmd->ctx ? m : NULL;
}

/* Has one that the command is to wait for failed already, because of a user event? Then the command isn't carried out:
 * the driver gets it as it is. */
static inline bool gs_wait_has_failed(const struct gs_context *ctx, const struct gs_command *cmd)
{
    bool failed = false;
    for (cl_uint i = 0; atomic_load(&ctx->user_event_failed) && cmd->wait && i < cmd->n_wait && !failed; i++)
        failed = cmd->wait[i] && gs_event_status(cmd->wait[i]) < 0;
    return failed;
}

/* Says whose command it is, if its context is followed: cmd->q and cmd->ctx; else it is the driver's alone. With images
 * sub-devices need help even where there is one. Counts the command in the queue's timeline. What was enqueued before
 * is shared by no more commands (gs_queue_close), but for a read that blocks, which sees to that itself: it may need no
 * unit. Returns the memory object, if that is ours as well, and of the command's context, whose lock protects it. */
static inline struct gs_mem *gs_command_begin_on(struct gs_command *cmd, cl_mem handle)
{
    struct gs_queue *q = gs_find(GS_QUEUE, cmd->queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, handle) : NULL;
    if (q) {
        gs_timeline_enqueue(q->timeline);
        if (cmd->op.kind != GS_OP_READ || !cmd->op.blocking)
            gs_queue_close(cmd->queue);
    }
    if (!q || !(gs_handles_commands(q->o.ctx) || (gs_op_is_of_image(&cmd->op) && q->o.ctx->parent)) ||
        gs_wait_has_failed(q->o.ctx, cmd))
        return NULL;
    cmd->q = q;
    cmd->ctx = q->o.ctx;
    return m && m->o.ctx == cmd->ctx ? m : NULL;
}

/* The same of a command of several objects, or of none. Null: it is the driver's alone. */
static inline struct gs_queue *gs_command_begin(struct gs_command *cmd)
{
    gs_command_begin_on(cmd, NULL);
    return cmd->q;
}

/* A wait for the event has told of a failure, perhaps before all commands that the event stands for have ended: these
 * still use the memory that the application has given. Waits for them. */
void gs_await_parts(cl_event event);

#endif
