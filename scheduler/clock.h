/* SPDX-License-Identifier: MIT */
/* Clocks, in ns. */
#ifndef GS_SCHEDULER_CLOCK_H
#define GS_SCHEDULER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gs_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline uint64_t gs_now_ns(void)
{
    return gs_clock_ns(CLOCK_MONOTONIC);
}

/* What the calling thread has had of a processor: it may have waited for one meanwhile. */
static inline uint64_t gs_processor_ns(void)
{
    return gs_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
