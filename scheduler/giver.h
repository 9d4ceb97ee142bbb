/* SPDX-License-Identifier: MIT */
/* Threads that give processes their processor priority, and take it back. The kernel passes a thread's priority on to
 * whoever has the locks that it waits for, within the call and without an interrupt of the thread that calls: a process
 * may have 128 threads at the ends of chains of a thousand such locks, each of which takes up to 0.7 ms. */
#ifndef GS_SCHEDULER_GIVER_H
#define GS_SCHEDULER_GIVER_H

#include <stdbool.h>
#include <sys/types.h>

/* A process, of one connection or several. */
struct gs_receiver {
    pid_t pid;
    int pidfd; /* -1: none */
    uid_t uid;
    bool named; /* the config names its user */
};

/* Once, before the others. The descriptor from which gs_givers_take has something to take for each event; -errno. */
int gs_givers_start(void);

/* All threads that the process has then get the priority; 0: none any more. What was said last counts. 1:
 * gs_givers_take will say when that is so; 0: it is, for it has none; -errno: it keeps what it has. */
int gs_givers_give(const struct gs_receiver *to, int priority);

/* False: there is nothing to take. *err: 0, or -errno if not all of its threads could be given it; -EAGAIN: it is to
 * get another one by now. */
bool gs_givers_take(struct gs_receiver *to, int *err);

/* Waits until all is given and taken back, for some seconds at most. */
void gs_givers_end(void);

#endif
