/* SPDX-License-Identifier: MIT */
/* Work for a thread of ours, which does it in the order in which it came: large transfers. They take long, and threads
 * inside the driver may wait for them while the process ends: they are done then, too. */
#ifndef GS_SHIM_PROCESS_WORK_QUEUE_H
#define GS_SHIM_PROCESS_WORK_QUEUE_H

#include <stdbool.h>

/* At the head of what is to be done. */
struct gs_work {
    struct gs_work *next;
    void (*run)(struct gs_work *work);
};

/* Is there the thread? It is started on the first call. */
bool gs_work_is_done(void);
/* From any thread or callback. Where there is no thread the work is done at once. */
void gs_work_add(struct gs_work *work);

#endif
