/* SPDX-License-Identifier: MIT */
/* Work for a thread of ours, which does it in the order in which it came. It may call the driver; it must not block for
 * long, nor take a context's lock, whose holder may be waiting for what comes after the work. */
#ifndef GS_SHIM_PROCESS_WORK_QUEUE_H
#define GS_SHIM_PROCESS_WORK_QUEUE_H

/* At the head of what is to be done. */
struct gs_work {
    struct gs_work *next;
    void (*run)(struct gs_work *work);
};

/* From any thread or callback. Where no thread can be started the work is done at once. */
void gs_work_add(struct gs_work *work);

#endif
