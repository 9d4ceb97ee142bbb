/* SPDX-License-Identifier: MIT */
/* What the thread of work_queue.h sends between places once the host has heard how many bytes it is: by queues, and
 * through a pinned ring, that nothing uses which could be waiting for that. */
#ifndef GS_SHIM_OUTPUT_DEFERRED_SEND_H
#define GS_SHIM_OUTPUT_DEFERRED_SEND_H

#include "shim/order/command.h"
#include "shim/order/continuation.h"
#include "shim/memory/pinned.h"
#include "shim/schedule/put.h"
#include "shim/record/keep.h"

/* At the head of what is to be sent. All zeros but for the functions until gs_deferred_send_make. */
struct gs_deferred_send {
    struct gs_continuation continuation;        /* first */
    cl_int (*send)(struct gs_deferred_send *d); /* in the thread, once what is known is known: enqueues all of it */
    void (*sent)(struct gs_deferred_send *, cl_int); /* that has been done, or can't be; or null */
    void (*free)(struct gs_deferred_send *d);        /* lets go of all that isn't said below */
    struct gs_context *ctx;                          /* held */
    struct gs_putting put;                           /* for whom; kept */
    struct gs_pinned *ring;                          /* null: the driver's own copies */
    unsigned n;                                      /* places */
    cl_command_queue queue[GS_MAX_DEVICES];          /* the thread's own; retained */
    struct gs_events done[GS_MAX_DEVICES];           /* by place: gains the ends of what `send` enqueues */
    bool dropped;                                    /* there is nothing to send: it is done in another way */
};

/* Sees to the queues of n places, and to the end that is pledged. With the context's lock held. After an error the
 * caller frees it. */
cl_int gs_deferred_send_make(struct gs_deferred_send *d, struct gs_command *cmd, unsigned n);
/* All of it, unless it has been begun. */
void gs_deferred_send_free(struct gs_deferred_send *d);

/* What the thread is to use, retained; null after an error, before or now. And lets it go, if it isn't null. */
cl_mem gs_deferred_send_keep(cl_mem m, cl_int *err);
static inline void gs_deferred_send_let(cl_mem m)
{
    if (m)
        gs_let_go_of_mem(m);
}

/* The last step in the application's call: sends off what its places have enqueued, and lets the thread act once these
 * have ended, or now if there are none. They are taken over. */
void gs_deferred_send_begin(struct gs_deferred_send *d, struct gs_command *cmd, struct gs_events *known);

/* From one place to another. By the thread alone. */
cl_int gs_deferred_send_copy(struct gs_deferred_send *d, unsigned from, unsigned to, const struct gs_op *copy,
                             const struct gs_events *wait, struct gs_events *done);

/* An event of place p with the times of a queue, which a user event has not, that comes after these and what was
 * enqueued on the place's copy queue. With the context's lock held. */
cl_int gs_deferred_send_mark(struct gs_command *cmd, unsigned p, cl_uint n, const cl_event *wait, struct gs_events *to);

/* The same after what is pledged. */
cl_int gs_deferred_send_promise(struct gs_deferred_send *d, struct gs_command *cmd, unsigned p, struct gs_events *to);

/* The end of a context. */
void gs_output_free(struct gs_output *o);

#endif
