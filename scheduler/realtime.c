/* SPDX-License-Identifier: MIT */
#include "scheduler/realtime.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/log.h"

/* Of SCHED_FIFO's 1 ... 99. The kernel's own threads at 99 and the watchdogs stay above, interrupt threads (50) amid.
 */
enum { LOWEST_TASK = 10, HIGHEST_TASK = 89, DAEMON = 95 };
enum { LEVELS = HIGHEST_TASK - LOWEST_TASK + 1, BELOW_INTERRUPTS = 40 };
/* What a task's threads get. A child after fork doesn't inherit it, and neither does a thread that is made later. */
enum { GIVEN = SCHED_FIFO | SCHED_RESET_ON_FORK };

bool gs_realtime_self(void)
{
    struct sched_param p = {.sched_priority = DAEMON};
    if (sched_setscheduler(0, SCHED_FIFO, &p) < 0) {
        gs_warn("SCHED_FIFO is not permitted (%s): tasks compete with all processes for the CPUs; run the daemon as "
                "root or with CAP_SYS_NICE, or set `realtime = no`",
                strerror(errno));
        return false;
    }
    /* Without it, a page fault may delay a grant: no more than that. */
    mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    return true;
}

unsigned gs_realtime_levels(size_t ranks)
{
    return ranks <= BELOW_INTERRUPTS ? BELOW_INTERRUPTS / (unsigned)ranks : ranks <= LEVELS;
}

int gs_realtime_priority(int rank, int ranks, unsigned elders)
{
    const unsigned levels = gs_realtime_levels((size_t)ranks);
    if (levels)
        return LOWEST_TASK + rank * (int)levels - 1 - (int)(elders < levels ? elders : levels - 1);
    return LOWEST_TASK + (int)((long)(rank - 1) * (HIGHEST_TASK - LOWEST_TASK) / (ranks - 1));
}

/* Takes back only what was given: a thread may have a policy of its own. */
static int set_thread(pid_t tid, int policy, const struct sched_param *p)
{
    if (policy == SCHED_OTHER && sched_getscheduler(tid) != GIVEN)
        return 0;
    return sched_setscheduler(tid, policy, p) < 0 && errno != ESRCH ? -errno : 0;
}

static bool has_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&p, 1, 0) != 0;
}

void gs_realtime_process(pid_t pid, int pidfd, int priority)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir || has_ended(pidfd)) { /* the number may be another process's by now */
        if (dir)
            closedir(dir);
        return;
    }
    const struct sched_param p = {.sched_priority = priority};
    int err = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        const int failed = tid > 0 ? -set_thread(tid, priority > 0 ? GIVEN : SCHED_OTHER, &p) : 0;
        err = failed ? failed : err;
    }
    closedir(dir);
    if (err)
        gs_warn("process %d can't be given its CPU priority: %s", (int)pid, strerror(err));
}
