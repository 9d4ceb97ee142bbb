/* SPDX-License-Identifier: MIT */
#ifndef GS_COMMON_LOCK_LOCKED_H
#define GS_COMMON_LOCK_LOCKED_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static inline pthread_mutex_t *gs_locked_begin(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    return lock;
}
static inline void gs_locked_end(pthread_mutex_t *const *lock)
{
    pthread_mutex_unlock(*lock);
}
/* Holds the lock from here to the end of the block. */
#define GS_LOCKED(lock)                                                                                                \
    pthread_mutex_t *const gs_locked_ __attribute__((cleanup(gs_locked_end), unused)) = gs_locked_begin(lock)

/* At the end of the process, when who holds the lock may be gone: waits two seconds at most. */
static inline bool gs_lock_soon(pthread_mutex_t *lock)
{
    const struct timespec soon = {time(NULL) + 2, 0};
    return pthread_mutex_timedlock(lock, &soon) == 0;
}

#endif
