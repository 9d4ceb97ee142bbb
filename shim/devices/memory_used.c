/* SPDX-License-Identifier: MIT */
#include "shim/devices/memory_used.h"

#include <stdatomic.h>

#include "common/settings.h"

static struct {
    atomic_int_fast64_t used[GS_MAX_DEVICES];
    void (*_Atomic listener)(unsigned place, int64_t bytes);
} usage;

void gs_memory_used(unsigned place, int64_t bytes)
{
    atomic_fetch_add_explicit(&usage.used[place], bytes, memory_order_relaxed);
    void (*tell)(unsigned, int64_t) = atomic_load_explicit(&usage.listener, memory_order_relaxed);
    if (tell)
        tell(place, bytes);
}

void gs_memory_watch(void (*tell)(unsigned place, int64_t bytes))
{
    for (unsigned p = 0; p < GS_MAX_DEVICES; p++)
        if (atomic_load(&usage.used[p]))
            tell(p, atomic_load(&usage.used[p]));
    atomic_store(&usage.listener, tell);
}
