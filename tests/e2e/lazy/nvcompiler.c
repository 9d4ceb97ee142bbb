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
    for (unsigned i = 0; i < ms && !atomic_load(&apart); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return !atomic_load(&apart);
}
