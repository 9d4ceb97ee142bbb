/* SPDX-License-Identifier: MIT */
/* CPU priorities: the daemon above the tasks, the tasks in their order, all by SCHED_FIFO where that is permitted. */
#ifndef GS_SCHEDULER_REALTIME_H
#define GS_SCHEDULER_REALTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GS_REALTIME_THREADS = 128 /* of a process; its first ones */ };

/* Raises the calling process above all tasks. False: not permitted, which is said once, in a warning. */
bool gs_realtime_self(void);

/* The priority of a process of a task of rank 1 ... ranks (larger is more urgent), behind `elders` other processes of
 * that task. */
int gs_realtime_priority(int rank, int ranks, unsigned elders);

/* How many processes of each task have priorities of their own; 0: not even all tasks have one. */
unsigned gs_realtime_levels(size_t ranks);

/* Gives the priority to all present threads of the process, not to its children; 0: takes back what was given. pidfd
 * (-1: none) tells whether the number is still this process's. *err: 0, or -errno if not all could get it. Returns 0;
 * or, after a thread for which the kernel took long, that much processor time: this thread has it, later ones
 * haven't. */
uint64_t gs_realtime_process(pid_t pid, int pidfd, int priority, int *err);

/* pidfd -1: unknown, so false. */
bool gs_process_has_ended(int pidfd);

#endif
