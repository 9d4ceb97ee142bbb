/* SPDX-License-Identifier: MIT */
/* What is pledged to the application's commands: a user event that they wait for, and that ends once a thread of ours
 * has seen to what can only be known when something else has ended. First that is waited for; then `act` is called in
 * the thread of work_queue.h; it enqueues the rest, whose end is the continuation's. The call that makes it waits for
 * nothing. */
#ifndef GS_SHIM_OUTPUT_CONTINUATION_H
#define GS_SHIM_OUTPUT_CONTINUATION_H

#include <stdatomic.h>

#include "shim/order/command.h"
#include "shim/process/work_queue.h"

/* At the head of what is to be done. All zeros but for `act` and `free` until gs_continuation_make. */
struct gs_continuation {
    struct gs_work work; /* first */
    void (*act)(struct gs_continuation *p);
    void (*free)(struct gs_continuation *p); /* of all of it, in the thread; begins with gs_continuation_free */
    cl_event end;                            /* the user event; or null */
    /* Commands that wait for `end`, until they have ended: PoCL (3.1) uses one that fails after it has let go of it. */
    struct gs_events marks;
    atomic_uint awaits; /* events that it goes on after */
    bool acts;          /* `act` has been called: what is awaited is its work */
    atomic_int status;  /* CL_COMPLETE, or the first error */
};

cl_int gs_continuation_make(struct gs_continuation *p, const struct gs_context *ctx);
void gs_continuation_free(struct gs_continuation *p);

/* How it is to end, unless it has failed already. */
void gs_continuation_fail(struct gs_continuation *p, cl_int status);

/* Once all of `events`, which is freed, has ended: `act` is called; or, where `act` itself has enqueued and awaits
 * them, the continuation ends. If some end badly it fails. It may be gone when this returns. */
void gs_continuation_await(struct gs_continuation *p, struct gs_events *events);

#endif
