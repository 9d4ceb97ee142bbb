/* SPDX-License-Identifier: MIT */
#ifndef GS_SHIM_PROCESS_CLOCK_H
#define GS_SHIM_PROCESS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gs_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t gs_now_ns(void)
{
    return gs_clock_ns(CLOCK_MONOTONIC);
}

/* What the calling thread has computed: its processor time. */
static inline uint64_t gs_thread_ns(void)
{
    return gs_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
