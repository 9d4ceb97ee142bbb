/* SPDX-License-Identifier: MIT */
/* A library that is loaded behind gpusparc: a thread other than the process's first one that registers a handler of
 * exit() stands still within that until `held_up` is set to 2; it is 1 once one does. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) atomic_int held_up;

__attribute__((visibility("default"))) int __cxa_atexit(void (*handler)(void *), void *arg, void *library);
int __cxa_atexit(void (*handler)(void *), void *arg, void *library)
{
    int (*real)(void (*)(void *), void *, void *);
    *(void **)&real = dlsym(RTLD_NEXT, "__cxa_atexit");
    if (gettid() != getpid()) {
        int none = 0;
        atomic_compare_exchange_strong(&held_up, &none, 1);
        while (atomic_load(&held_up) != 2)
            nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
    return real(handler, arg, library);
}
