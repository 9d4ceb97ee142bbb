/* SPDX-License-Identifier: MIT */
/* The end of a process that has commands under way. */
#ifndef GS_SHIM_API_UNFINISHED_H
#define GS_SHIM_API_UNFINISHED_H

#include "shim/record/objects.h"

/* The application has ended, and none of exit()'s handlers has run. PoCL compiles a kernel for a launch's sizes in a
 * thread of its own when the launch begins, and exit() takes LLVM apart under it: the process crashed, the more often
 * the longer its end takes. So a thread of ours waits for what is in these contexts' queues, and gs_threads_settle()
 * for that thread, for as long as there is patience. Other drivers' contexts are left alone. With the list of contexts
 * locked. */
void gs_unfinished_await(struct gs_context *contexts);

#endif
