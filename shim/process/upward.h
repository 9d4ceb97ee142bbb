/* SPDX-License-Identifier: MIT */
/* A function of the entry points that this room calls. */
#ifndef GS_SHIM_PROCESS_UPWARD_H
#define GS_SHIM_PROCESS_UPWARD_H

struct gs_above_process {
    /* main has returned, or exit() was called, before gs_threads_finish: waits for commands that the application has
     * left in its queues, if the driver needs that. */
    void (*leave)(void);
};
extern const struct gs_above_process gs_above_process;

#endif
