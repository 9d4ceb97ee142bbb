/* SPDX-License-Identifier: MIT */
#include "shim/process/clock.h"

#include <time.h>

static uint64_t by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t gs_now_ns(void)
{
    return by(CLOCK_MONOTONIC);
}

uint64_t gs_thread_ns(void)
{
    return by(CLOCK_THREAD_CPUTIME_ID);
}
