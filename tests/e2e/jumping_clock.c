/* SPDX-License-Identifier: MIT */
/* Preloaded: the clock of the day jumps by years and back, at each look. What counts time has to take the other one. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const long long jumps[] = {0, 40000000, -40000000, 3600, -7, 1000000000, -900000000};

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static _Atomic unsigned looks;
    const long err = syscall(SYS_clock_gettime, clock, t);
    if (err == 0 && clock == CLOCK_REALTIME)
        t->tv_sec += jumps[atomic_fetch_add(&looks, 1) % (sizeof jumps / sizeof *jumps)];
    return (int)err;
}

int gettimeofday(struct timeval *restrict v, void *restrict zone)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *v = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}
