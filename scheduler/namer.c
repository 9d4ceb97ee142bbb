/* SPDX-License-Identifier: MIT */
#include "scheduler/namer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/realtime.h"

static struct gs_errands namers;

/* Of a program that has been replaced since it started, as an upgrade does, it is the path that it had. */
void gs_read_exe(pid_t pid, int pidfd, char exe[PATH_MAX])
{
    static const char gone[] = " (deleted)"; /* what the kernel says of it behind its path */
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(link, exe, PATH_MAX - 1);
    exe[n > 0 ? n : 0] = '\0';
    const size_t length = strlen(exe), tail = sizeof gone - 1;
    if (length > tail && strcmp(exe + length - tail, gone) == 0)
        exe[length - tail] = '\0';
    /* It lives still, so the path was its own and not that of a later process of the same number. */
    if (pidfd < 0 || gs_process_has_ended(pidfd))
        exe[0] = '\0';
}

static void look_up(struct gs_errand *errand)
{
    struct gs_naming *n = (struct gs_naming *)errand;
    gs_read_exe(n->pid, n->pidfd, n->exe);
    close(n->pidfd);
}

int gs_namers_start(void)
{
    return gs_errands_start(&namers);
}

bool gs_namers_ask(uint64_t connection, const struct gs_errand_of *whom, pid_t pid, int pidfd)
{
    struct gs_naming *n = calloc(1, sizeof *n);
    if (!n)
        return false;
    *n = (struct gs_naming){
        .errand.run = look_up, .connection = connection, .pid = pid, .pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0)};
    if (n->pidfd >= 0 && gs_errands_ask(&namers, &n->errand, whom))
        return true;
    if (n->pidfd >= 0)
        close(n->pidfd);
    free(n);
    return false;
}

struct gs_naming *gs_namers_take(void)
{
    return (struct gs_naming *)gs_errands_take(&namers);
}
