/* SPDX-License-Identifier: MIT */
/* What this process is, and what its user has asked of gpusparc. Any thread. */
#ifndef GS_SHIM_PROCESS_PROCESS_H
#define GS_SHIM_PROCESS_PROCESS_H

#include <stdatomic.h>

#include "common/clock.h"
#include "common/settings.h"

/* What each call of the application asks for stands side by side, in one line of the caches: a call finds them full of
 * the driver's things. */
extern struct gs_process {
    _Alignas(64) atomic_bool read; /* the settings are */
    atomic_bool forked;
    atomic_bool looked;               /* for a daemon, and it isn't time to look again, */
    atomic_uint_fast64_t look_at_ns;  /* which it is then */
    struct gs_client *_Atomic client; /* of the daemon: made once, never closed; its end is the process's. Or NULL */
    const char *_Atomic given_up;     /* why nothing is split any more, or NULL */
    struct gs_settings settings;
} gs_process;
__attribute__((cold)) void gs_settings_read(void);

/* From the environment, read once. */
static inline const struct gs_settings *gs_settings(void)
{
    if (!atomic_load_explicit(&gs_process.read, memory_order_acquire))
        gs_settings_read();
    return &gs_process.settings;
}

/* Said by calls that wait or tell the application of ends, and now and then by a launch: without a thread nobody else
 * knows the time. */
static inline void gs_time_is(uint64_t now_ns)
{
    if (now_ns >= atomic_load_explicit(&gs_process.look_at_ns, memory_order_relaxed))
        atomic_store_explicit(&gs_process.looked, false, memory_order_relaxed);
}

/* The same for who doesn't know the time: a look at a coarse clock. */
static inline void gs_time_look(void)
{
    gs_time_is(gs_clock_ns(CLOCK_MONOTONIC_COARSE));
}

/* In a forked child: the parent's objects are none of ours. */
static inline bool gs_forked(void)
{
    return atomic_load_explicit(&gs_process.forked, memory_order_relaxed);
}

/* By the handler of pthread_atfork, in the child. */
void gs_forked_begin(void);

/* The library that has the address is the driver, which our threads call. */
void gs_driver_is_at(void *address);

/* Does the address lie in the driver's library? False before it is known. */
bool gs_is_of_driver(void *address);

#endif
