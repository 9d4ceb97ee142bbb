/* SPDX-License-Identifier: MIT */
/* Large transfers whose call doesn't wait for them, or may not wait in the order of its queue: a thread of ours carries
 * them out by a pinned ring of its own (staging.h). The application's queue gets two markers: one that tells when the
 * commands before and the wait list have ended, so that the host's memory may be looked at; and one that waits for an
 * event of ours, and is the command to everybody else. A transfer is begun only when all that it must come after has
 * ended, and then waits for nothing but the device and, under a daemon, its turn: so none can keep another waiting that
 * it waits for itself. */
#ifndef GS_SHIM_STAGING_TRANSFER_WORKER_H
#define GS_SHIM_STAGING_TRANSFER_WORKER_H

#include "shim/staging/staging.h"

/* Transfers between m, or the places of its root, and the host's memory: one command of that type, after the commands
 * before in the queue and the wait list. */
struct gs_beside {
    struct gs_queue *q;
    struct gs_mem *m;
    cl_command_type type;
    bool waits; /* see below */
    const struct gs_staged *v;
    unsigned n;
    cl_uint n_wait;
    const cl_event *wait;
};

/* Hands them over; gs_staging_way has said GS_FACT_THREAD. *event is the caller's: what clReleaseEvent takes. On an
 * error nothing will happen. With the context's lock held; never blocks.
 *
 * With `waits` the caller waits for the event, and then asks gs_carried_error: if the transfer fails, its call returns
 * an error and has been no command, as without us, so what comes behind it in the queue goes on. Else the event fails,
 * and with it what waits for it; PoCL (3.1) works once more on commands of which two that they waited for have failed,
 * and, where the application holds none of their events, aborts: it does so without us. */
cl_int gs_carry_beside(const struct gs_beside *b, cl_event *event);

/* What the call of a transfer that has ended is to return; of other events CL_SUCCESS. */
cl_int gs_carried_error(cl_event event);

#endif
