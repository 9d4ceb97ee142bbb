/* SPDX-License-Identifier: MIT */
/* What the entry points do for this room. */
#ifndef GS_SHIM_PROCESS_UPWARD_H
#define GS_SHIM_PROCESS_UPWARD_H

struct gs_above_process {
    /* Once main has returned or exit() is called, before gs_threads_settle: what the application has left in its queues
     * is waited for, where the driver needs that. */
    void (*leave)(void);
};
extern const struct gs_above_process gs_above_process;

#endif
