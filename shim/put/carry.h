/* SPDX-License-Identifier: MIT */
/* A transfer that the application's call carries by queues of our own, while the context's lock is free. Its queue gets
 * its marker, the command to everybody else, when it has ended; or earlier, from whoever enqueues something in that
 * queue meanwhile: that comes after all of the transfer then, and the call doesn't wait for it. */
#ifndef GS_SHIM_PUT_CARRY_H
#define GS_SHIM_PUT_CARRY_H

#include "shim/order/command.h"

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
void gs_carry_mark(struct gs_queue *q);

/* err: of the transfer, which ends with `ended`, each of a place. *event, unless `event` is null: the command's. */
cl_int gs_carry_end(struct gs_carry *c, cl_int err, const struct gs_events *ended, const unsigned *place,
                    cl_event *event);

/* Locks the queue's context, for something to be enqueued in the queue. */
static inline void gs_queue_lock(struct gs_queue *q)
{
    pthread_mutex_lock(&q->o.ctx->lock);
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
