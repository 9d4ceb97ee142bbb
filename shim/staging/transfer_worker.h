/* SPDX-License-Identifier: MIT */
/* Large transfers whose call doesn't wait for them: a thread of ours carries them out by the pinned ring (staging.h).
 * The application's queue gets two markers: one that tells when the commands before and the wait list have ended, so
 * that the host's memory may be looked at; and one that waits for an event of ours, and is the command to everybody
 * else. A transfer is begun only when all that it must come after has ended, and then waits for nothing but the device
 * and, under a daemon, its turn: so none can keep another waiting that it waits for itself. */
#ifndef GS_SHIM_STAGING_TRANSFER_WORKER_H
#define GS_SHIM_STAGING_TRANSFER_WORKER_H

#include "shim/staging/staging.h"

/* Hands transfers between m, or the places of its root, and the host's memory over, as the command, after `wait` and,
 * in order, what is before in its queue; gs_staging_way has said GS_FACT_THREAD. *event is the caller's: what
 * clReleaseEvent takes. On an error nothing will happen. With the context's lock held; never blocks. If the transfer
 * fails, so does the event, and with it what waits for it; PoCL (3.1) works once more on commands of which two that
 * they waited for have failed, and, where the application holds none of their events, aborts: it does so without us. */
cl_int gs_carry_beside(const struct gs_command *cmd, struct gs_mem *m, const struct gs_staged *v, unsigned n,
                       const struct gs_events *wait, cl_event *event);

#endif
