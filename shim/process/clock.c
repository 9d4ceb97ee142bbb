/* SPDX-License-Identifier: MIT */
#include "shim/process/clock.h"

#include <time.h>

uint64_t gs_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
