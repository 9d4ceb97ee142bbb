/* SPDX-License-Identifier: MIT */
#ifndef GS_COMMON_CLOCK_H
#define GS_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds by CLOCK_MONOTONIC. */
static inline int64_t gs_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
