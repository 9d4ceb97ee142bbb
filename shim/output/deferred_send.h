/* SPDX-License-Identifier: MIT */
/* What the thread of work_queue.h sends between places once the host has heard how many bytes it is: by queues, and
 * through a pinned ring, that nothing uses which could be waiting for that. */
#ifndef GS_SHIM_OUTPUT_DEFERRED_SEND_H
#define GS_SHIM_OUTPUT_DEFERRED_SEND_H

#include "shim/order/command.h"
#include "shim/order/continuation.h"
#include "shim/memory/pinned.h"

/* Of so many bytes, may it be less by so much that it pays to hear of it first? */
bool gs_deferred_send_worth(uint64_t bytes);

/* The context's ring for it; null: the driver's own copies. With the context's lock held. */
struct gs_pinned *gs_deferred_send_ring(struct gs_context *ctx);

/* What the thread is to use, retained; null after an error, before or now. The queue is the thread's own of place p. */
cl_mem gs_deferred_send_keep(cl_mem m, cl_int *err);
cl_command_queue gs_deferred_send_queue(struct gs_command *cmd, unsigned p, cl_int *err);

/* The last step in the application's call: sends off what n places have enqueued, and lets the thread act once these
 * have ended, or now if there are none. They are taken over. */
void gs_deferred_send_begin(struct gs_command *cmd, struct gs_continuation *continuation, unsigned n,
                            struct gs_events *known);

/* A piece of a merge, from the queue of one place to that of another. By the thread alone. */
cl_int gs_deferred_send_copy(struct gs_pinned *ring, cl_command_queue from, cl_command_queue to,
                             const struct gs_buffer_copy *c, const struct gs_events *wait, struct gs_events *done);

/* An event of place p with the times of a queue, which a user event has not, that comes after these and what was
 * enqueued on the place's copy queue. With the context's lock held. */
cl_int gs_deferred_send_mark(struct gs_command *cmd, unsigned p, cl_uint n, const cl_event *wait, struct gs_events *to);

/* The same after what is pledged. */
cl_int gs_deferred_send_promise(struct gs_command *cmd, struct gs_continuation *continuation, unsigned p,
                                struct gs_events *to);

#endif
