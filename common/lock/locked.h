/* SPDX-License-Identifier: MIT */
#ifndef GS_COMMON_LOCK_LOCKED_H
#define GS_COMMON_LOCK_LOCKED_H

#include <pthread.h>

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

#endif
