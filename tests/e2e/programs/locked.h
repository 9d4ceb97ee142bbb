/* SPDX-License-Identifier: MIT */
/* How many mutexes this thread has locked, by whatever it has called: a program's own pthread_mutex_lock is
 * everybody's. The program exports its symbols, and links with dl. */
#ifndef GS_TESTS_LOCKED_H
#define GS_TESTS_LOCKED_H

#include <dlfcn.h>
#include <pthread.h>

static _Thread_local unsigned long locked;

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static union {
        void *symbol;
        int (*lock)(pthread_mutex_t *);
    } next; /* the same for all threads */
    if (!next.symbol)
        next.symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    locked++;
    return next.lock(mutex);
}

#endif
