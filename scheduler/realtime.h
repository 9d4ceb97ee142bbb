/* SPDX-License-Identifier: MIT */
/* CPU priorities: the daemon above the tasks, the tasks in their order, all by SCHED_FIFO where that is permitted. */
#ifndef GS_SCHEDULER_REALTIME_H
#define GS_SCHEDULER_REALTIME_H

#include <stdbool.h>
#include <sys/types.h>

/* Raises the calling process above all tasks. Says once, in a warning, where it isn't permitted, and gives false. */
bool gs_realtime_self(void);

/* All threads that the process has now, and none of its children: rank 1 ... ranks, larger is more urgent; 0: takes
 * back what this has given. `pidfd` (-1: none) tells whether the number is still this process's. */
void gs_realtime_process(pid_t pid, int pidfd, int rank, int ranks);

#endif
