/* SPDX-License-Identifier: MIT */
#include "shim/memory/fanout.h"

enum {
    LEAST_BYTES = 256 * 1024 * 1024, /* four times the ring */
    ENOUGH = 2,                      /* so many of each: the first of all may have taken longer */
    MORE_PERCENT = 110               /* what windows take beside a write to one, at the least */
};

void gs_fanout_learn(struct gs_fanout *s, bool to_all, uint64_t bytes, uint64_t ns)
{
    const uint64_t mib = bytes >> 20;
    if (bytes < LEAST_BYTES)
        return;
    const uint64_t took = ns / mib ? ns / mib : 1;
    const bool first = atomic_fetch_add(to_all ? &s->all.n : &s->one.n, 1) == 0;
    atomic_uint_least64_t *least = to_all ? &s->all.mib_ns : &s->one.mib_ns;
    if (first || took < atomic_load(least))
        atomic_store(least, took);
}

bool gs_fanout_pays(const struct gs_fanout *s, uint64_t bytes)
{
    const unsigned one = atomic_load(&s->one.n), all = atomic_load(&s->all.n);
    if (one < ENOUGH || all < ENOUGH)
        return bytes >= LEAST_BYTES && all < ENOUGH;
    return atomic_load(&s->all.mib_ns) * 100 <= atomic_load(&s->one.mib_ns) * MORE_PERCENT;
}
