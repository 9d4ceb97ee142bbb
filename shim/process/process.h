/* SPDX-License-Identifier: MIT */
/* The process's state and settings. Any thread. */
#ifndef GS_SHIM_PROCESS_PROCESS_H
#define GS_SHIM_PROCESS_PROCESS_H

#include <stdatomic.h>

#include "common/clock.h"
#include "common/settings.h"

/* What every call of the application reads is in one cache line, as the driver has filled the caches. */
extern struct gs_process {
    _Alignas(64) atomic_bool read; /* the settings were read */
    atomic_bool forked;
    atomic_bool looked;               /* for a daemon; gs_time_is() clears this when look_at_ns has come */
    atomic_uint_fast64_t look_at_ns;  /* when to look for a daemon again; UINT64_MAX: never */
    struct gs_client *_Atomic client; /* made once, never closed; its end is the process's; or NULL */
    const char *_Atomic given_up;     /* why nothing is split any more, or NULL */
    atomic_bool large;                /* there was a buffer of which replicas may be ranges: shim/memory/object.h */
    struct gs_settings settings;
} gs_process;
__attribute__((cold)) void gs_settings_read(void);

/* The settings from the environment, read once. */
static inline const struct gs_settings *gs_settings(void)
{
    if (!atomic_load_explicit(&gs_process.read, memory_order_acquire))
        gs_settings_read();
    return &gs_process.settings;
}

/* Told by calls that wait or tell of ends, and now and then by a launch: no thread watches the time. */
static inline void gs_time_is(uint64_t now_ns)
{
    if (now_ns >= atomic_load_explicit(&gs_process.look_at_ns, memory_order_relaxed))
        atomic_store_explicit(&gs_process.looked, false, memory_order_relaxed);
}

/* gs_time_is for callers that don't know the time: reads a coarse clock. */
static inline void gs_time_look(void)
{
    gs_time_is(gs_clock_ns(CLOCK_MONOTONIC_COARSE));
}

/* Is this a forked child? The parent's objects aren't usable here. */
static inline bool gs_forked(void)
{
    return atomic_load_explicit(&gs_process.forked, memory_order_relaxed);
}

/* For pthread_atfork, in the child. */
void gs_forked_begin(void);

/* The library at this address is the driver. */
void gs_driver_is_at(void *address);

/* Is the address in the driver's library? False until the library is known. */
bool gs_is_of_driver(void *address);

#endif
