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

/* False: it was taken apart before it was done. */
bool lazy_nvcompiler(unsigned ms);
bool lazy_nvcompiler(unsigned ms)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        for (volatile unsigned i = 0; i < 200000; i++) /* it computes, too: a compiler that doesn't isn't waited for */
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < (long)ms &&
             !atomic_load(&apart));
    return !atomic_load(&apart);
}
