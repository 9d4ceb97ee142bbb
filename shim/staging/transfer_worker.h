/* SPDX-License-Identifier: MIT */
/* Large transfers whose call doesn't wait for them: a thread of ours carries them out by the pinned ring (staging.h).
 * The application's queue gets two markers. The first ends with the earlier commands and the wait list: then the host's
 * memory may be read. The second waits for an event of ours, and is the command to everybody else. A transfer begins
 * only after all earlier commands have ended, and then waits for the device alone and, under a daemon, for its turn: so
 * no two transfers wait for each other. */
#ifndef GS_SHIM_STAGING_TRANSFER_WORKER_H
#define GS_SHIM_STAGING_TRANSFER_WORKER_H

#include "shim/staging/staging.h"

/* Hands transfers between m, or the places of its root, and the host's memory over, as the command, after `wait` and,
 * in order, what is before in its queue; gs_staging_way has said GS_FACT_THREAD. *event is the caller's: what
 * clReleaseEvent takes. On an error nothing will happen. With the context's lock held; never blocks. If the transfer
 * fails, so do the event and all commands that wait for it; PoCL (3.1) works once more on commands of which two that
 * they waited for have failed, and, where the application holds none of their events, aborts: it does so without us. */
cl_int gs_carry_beside(const struct gs_command *cmd, struct gs_mem *m, const struct gs_staged *v, unsigned n,
                       const struct gs_events *wait, cl_event *event);

#endif
