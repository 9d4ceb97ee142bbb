/* SPDX-License-Identifier: MIT */
/* Preloaded: while there is a file $GS_STUCK/PID, whoever reads the link /proc/PID/exe waits, as for a process that
 * becomes another program and doesn't come to an end with it, and so does who sets the priority of its first thread.
 * With $GS_NO_TIMER no timer ever fires, so nothing goes on because it has taken long. With $GS_STALLS
 * each look at a thread's time finds that it has had a second more, as where a virtual machine has stood still; with
 * $GS_SLOW each look at the time finds it 30 us later than it is otherwise. Says of each rest that is the longest so
 * far how long it is. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void wait_for(int pid)
{
    char held[256];
    snprintf(held, sizeof held, "%s/%d", getenv("GS_STUCK"), pid);
    while (access(held, F_OK) == 0)
        usleep(1000);
}

__attribute__((visibility("default"))) ssize_t readlink(const char *path, char *to, size_t bytes)
{
    ssize_t (*real)(const char *, char *, size_t);
    int pid;
    *(void **)&real = dlsym(RTLD_NEXT, "readlink");
    if (sscanf(path, "/proc/%d/exe", &pid) == 1)
        wait_for(pid);
    return real(path, to, bytes);
}

__attribute__((visibility("default"))) int sched_setscheduler(pid_t thread, int policy, const struct sched_param *p)
{
    int (*real)(pid_t, int, const struct sched_param *);
    *(void **)&real = dlsym(RTLD_NEXT, "sched_setscheduler");
    wait_for(thread);
    return real(thread, policy, p);
}

__attribute__((visibility("default"))) int timerfd_settime(int fd, int flags, const struct itimerspec *new,
                                                           struct itimerspec *old)
{
    int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
    *(void **)&real = dlsym(RTLD_NEXT, "timerfd_settime");
    return getenv("GS_NO_TIMER") ? 0 : real(fd, flags, new, old);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
    static atomic_long stalls, looks;
    int (*real)(clockid_t, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int err = real(clock, t);
    if (clock == CLOCK_THREAD_CPUTIME_ID && getenv("GS_STALLS"))
        t->tv_sec += atomic_fetch_add(&stalls, 1);
    if (clock == CLOCK_MONOTONIC && getenv("GS_SLOW")) {
        const long long ns = t->tv_nsec + 30000LL * atomic_fetch_add(&looks, 1);
        t->tv_sec += ns / 1000000000;
        t->tv_nsec = ns % 1000000000;
    }
    return err;
}

__attribute__((visibility("default"))) int epoll_pwait2(int fd, struct epoll_event *events, int most,
                                                        const struct timespec *t, const sigset_t *signals)
{
    static long long longest;
    int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "epoll_pwait2");
    const long long ns = t ? t->tv_sec * 1000000000LL + t->tv_nsec : 0;
    if (ns > longest)
        fprintf(stderr, "rests for %lld ns\n", longest = ns);
    return real(fd, events, most, t, signals);
}
