/* SPDX-License-Identifier: MIT */
#include "shim/report/calls.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Without a lock: the process may end while a thread is in here. */
static struct {
    const char *_Atomic name;
    atomic_uint_fast64_t calls, ns, longest_ns;
    atomic_uint_fast64_t from_most_ns; /* UINT64_MAX - the shortest */
} table[GS_CALLS_MOST];

static void raise(atomic_uint_fast64_t *to, uint_fast64_t v)
{
    uint_fast64_t now = atomic_load(to);
    while (now < v && !atomic_compare_exchange_weak(to, &now, v)) {
    }
}

void gs_calls_add(const char *name, uint64_t ns)
{
    for (unsigned i = 0; i < GS_CALLS_MOST; i++) {
        const char *there = NULL;
        if (!atomic_compare_exchange_strong(&table[i].name, &there, name) && there != name)
            continue;
        atomic_fetch_add(&table[i].calls, 1);
        atomic_fetch_add(&table[i].ns, ns);
        raise(&table[i].longest_ns, ns);
        raise(&table[i].from_most_ns, UINT64_MAX - ns);
        return;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct gs_call_times *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

unsigned gs_calls_list(struct gs_call_times list[GS_CALLS_MOST])
{
    unsigned n = 0;
    for (; n < GS_CALLS_MOST && atomic_load(&table[n].name); n++)
        list[n] = (struct gs_call_times){.name = table[n].name,
                                         .calls = table[n].calls,
                                         .ns = table[n].ns,
                                         .shortest_ns = UINT64_MAX - table[n].from_most_ns,
                                         .longest_ns = table[n].longest_ns};
    qsort(list, n, sizeof *list, by_time);
    return n;
}
