/* SPDX-License-Identifier: MIT */
/* Which program a process runs. For /proc/PID/exe the kernel waits while the process becomes another program, and for
 * as long as its old memory takes to go: the process decides how long that is. So threads look it up. */
#ifndef GS_SCHEDULER_NAMER_H
#define GS_SCHEDULER_NAMER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scheduler/errands.h"

/* A connection's program. */
struct gs_naming {
    struct gs_errand errand;
    uint64_t connection;
    pid_t pid;
    int pidfd;
    char exe[PATH_MAX]; /* "": it can't be known */
};

/* Once, before the others. The descriptor from which gs_namers_take has something to take for each event; -errno. */
int gs_namers_start(void);

/* Looks it up, some time. False: no memory, thread or descriptor. */
bool gs_namers_ask(uint64_t connection, const struct gs_errand_of *whom, pid_t pid, int pidfd);

/* The caller frees it. Null: there is none. */
struct gs_naming *gs_namers_take(void);

/* The program of a process of one's own thread's choice; "" if it can't be known. */
void gs_read_exe(pid_t pid, int pidfd, char exe[PATH_MAX]);

#endif
