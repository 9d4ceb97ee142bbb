/* SPDX-License-Identifier: MIT */
#include "scheduler/realtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log.h"
#include "common/clock.h"

/* Of SCHED_FIFO's 1 ... 99. The kernel's own threads at 99 and the watchdogs stay above, interrupt threads (50) amid.
 */
enum { LOWEST_TASK = 10, HIGHEST_TASK = 89, DAEMON = 95 };
enum { LEVELS = HIGHEST_TASK - LOWEST_TASK + 1, BELOW_INTERRUPTS = 40 };
/* What a task's threads get. A child after fork doesn't inherit it, and neither does a thread that is made later. */
enum { GIVEN = SCHED_FIFO | SCHED_RESET_ON_FORK };
enum { MOST_THREADS = GS_REALTIME_THREADS, SLOW_NS = 100000 };

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

bool gs_process_has_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&p, 1, 0) != 0;
}

/* A few at a time: to list a thread takes longer than to set its priority, and readdir lists a thousand. */
static unsigned list_threads(int dir, pid_t thread[MOST_THREADS])
{
    _Alignas(struct dirent64) char some[1024];
    unsigned n = 0;
    for (ssize_t bytes; n < MOST_THREADS && (bytes = getdents64(dir, some, sizeof some)) > 0;)
        for (ssize_t at = 0; at < bytes && n < MOST_THREADS;) {
            const struct dirent64 *e = (const struct dirent64 *)(some + at);
            thread[n] = (pid_t)strtol(e->d_name, NULL, 10);
            n += thread[n] > 0;
            at += e->d_reclen;
        }
    return n;
}

/* A thread that has ended may have left its number to another process. */
static bool is_there(int dir, pid_t thread)
{
    char name[16];
    snprintf(name, sizeof name, "%d", (int)thread);
    return faccessat(dir, name, F_OK, 0) == 0;
}

uint64_t gs_realtime_process(pid_t pid, int pidfd, int priority, int *err)
{
    char path[64];
    pid_t thread[MOST_THREADS];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const unsigned n =
        dir < 0 || gs_process_has_ended(pidfd) ? 0 : list_threads(dir, thread); /* the number may be another's by now */
    const struct sched_param p = {.sched_priority = priority};
    uint64_t took = 0;
    *err = 0;
    for (unsigned i = 0; i < n && took < SLOW_NS; i++) {
        if (!is_there(dir, thread[i]))
            continue;
        const uint64_t begin = gs_thread_ns();
        const int failed = set_thread(thread[i], priority > 0 ? GIVEN : SCHED_OTHER, &p);
        took = gs_thread_ns() - begin;
        *err = failed ? failed : *err;
    }
    if (dir >= 0)
        close(dir);
    return took < SLOW_NS ? 0 : took;
}
