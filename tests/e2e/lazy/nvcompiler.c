/* SPDX-License-Identifier: MIT */
/* A library like NVIDIA's compiler: the driver loads it when something is compiled first, and exit() takes it apart by
 * a handler that it registers then, whoever is within it. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static atomic_bool apart;

static void take_apart(void)
{
    atomic_store(&apart, true);
}

__attribute__((constructor)) static void put_together(void)
{
    atexit(take_apart);
}

static long now_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* It gets as little of the processor as a compiler on a busy machine: 1 ms in 100. Without any it would not be waited
 * for. False: it was taken apart before it was done. */
bool lazy_nvcompiler(unsigned ms);
bool lazy_nvcompiler(unsigned ms)
{
    const long end = now_ms(CLOCK_MONOTONIC) + (long)ms;
    while (now_ms(CLOCK_MONOTONIC) < end && !atomic_load(&apart)) {
        const long computed = now_ms(CLOCK_THREAD_CPUTIME_ID);
        while (now_ms(CLOCK_THREAD_CPUTIME_ID) == computed)
            ;
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    return !atomic_load(&apart);
}
