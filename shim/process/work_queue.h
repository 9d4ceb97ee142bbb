/* SPDX-License-Identifier: MIT */
/* Work for threads of ours, which do it in the order in which it came. */
#ifndef GS_SHIM_PROCESS_WORK_QUEUE_H
#define GS_SHIM_PROCESS_WORK_QUEUE_H

#include <stdbool.h>

/* At the head of what is to be done. */
struct gs_work {
    struct gs_work *next;
    void (*run)(struct gs_work *work);
};

/* LATER: it may call the driver; it must not block for long, nor take a context's lock, whose holder may be waiting for
 * what comes after the work. CARRIER: large transfers, which take long, and which threads inside the driver may wait
 * for while the process ends: they are done then, too. */
enum gs_work_thread { GS_WORK_LATER, GS_WORK_CARRIER, GS_WORK_THREADS };

/* Is there such a thread? It is started on the first call. */
bool gs_work_is_done(enum gs_work_thread thread);
/* From any thread or callback. Where there is no thread the work is done at once. */
void gs_work_add(enum gs_work_thread thread, struct gs_work *work);

#endif
