/* SPDX-License-Identifier: MIT */
/* For --stats: auto mode may leave a kernel on one device before anybody has asked the translator whether it could be
 * split at all. Who reads the table wants to know that first; so the translator is asked at the end. */
#ifndef GS_SHIM_PLAN_ANSWER_H
#define GS_SHIM_PLAN_ANSWER_H

#include "shim/record/objects.h"

/* Auto mode has left a launch of the kernel on one device. Any thread. */
void gs_answer_wanted(struct gs_kernel *k, bool null_local);

/* The application lets its last handle of the kernel go: tells the report what the translator says of it. May take
 * long, once for each program. Without locks. */
void gs_answer_give(struct gs_kernel *k);

/* The same for all kernels that are left when the process ends. */
void gs_answer_all(void);

#endif
