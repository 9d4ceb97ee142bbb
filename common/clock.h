/* SPDX-License-Identifier: MIT */
#ifndef GS_COMMON_CLOCK_H
#define GS_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds by a clock. */
static inline uint64_t gs_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* By CLOCK_MONOTONIC. */
static inline uint64_t gs_now_ns(void)
{
    return gs_clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t gs_now_ms(void)
{
    return (int64_t)(gs_now_ns() / 1000000u);
}

/* So many nanoseconds, as calls that wait want them. */
static inline struct timespec gs_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* What the calling thread has had of a processor: it may have waited for one meanwhile. */
static inline uint64_t gs_thread_ns(void)
{
    return gs_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
