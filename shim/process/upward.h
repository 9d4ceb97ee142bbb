/* SPDX-License-Identifier: MIT */
/* What the entry points do for this room. */
#ifndef GS_SHIM_PROCESS_UPWARD_H
#define GS_SHIM_PROCESS_UPWARD_H

#include <stdbool.h>

struct gs_above_process {
    /* Once main has returned or exit() is called, before gs_threads_finish: what the application has left in its queues
     * is waited for, where the driver needs that. */
    void (*leave)(void);
    /* Are the compilers other machines'? Then that this process doesn't compute says nothing of them. */
    bool (*compiles_elsewhere)(void);
};
extern const struct gs_above_process gs_above_process;

#endif
