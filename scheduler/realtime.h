/* SPDX-License-Identifier: MIT */
/* CPU priorities: the daemon above the tasks, the tasks in their order, all by SCHED_FIFO where that is permitted. */
#ifndef GS_SCHEDULER_REALTIME_H
#define GS_SCHEDULER_REALTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GS_REALTIME_THREADS = 128 /* of a process; its first ones */ };

/* Raises the calling process above all tasks. Says once, in a warning, where it isn't permitted, and gives false. */
bool gs_realtime_self(void);

/* Of a task of rank 1 ... ranks, larger is more urgent, the process before which `elders` of its processes go. */
int gs_realtime_priority(int rank, int ranks, unsigned elders);

/* So many processes of each task have a priority of their own; 0: not even all tasks have. */
unsigned gs_realtime_levels(size_t ranks);

/* All threads that the process has now, and none of its children; 0: takes back what this has given. `pidfd` (-1: none)
 * tells whether the number is still this process's. *err is 0, or -errno: not all could be given it. 0; else it has
 * gone no further than to a thread for which the kernel took so long, of a processor: that one has it. */
uint64_t gs_realtime_process(pid_t pid, int pidfd, int priority, int *err);

/* -1: not known, so it hasn't. */
bool gs_process_has_ended(int pidfd);

#endif
