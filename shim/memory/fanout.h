/* SPDX-License-Identifier: MIT */
/* What the host writes for several devices that have windows between them goes to all of them from the slots of the
 * ring, if each has a link of its own: else to one, and from there by windows. Which it is shows in how long the two
 * take. Pure; several threads may use one. */
#ifndef GS_SHIM_MEMORY_FANOUT_H
#define GS_SHIM_MEMORY_FANOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of writes to one device, and to several: how many there have been, and the least that a MiB took. Zeros: none. */
struct gs_fanout {
    struct {
        atomic_uint n;
        atomic_uint_least64_t mib_ns;
    } one, all;
};

/* A write has taken so long; small ones, most of which stays in the ring, say nothing. */
void gs_fanout_learn(struct gs_fanout *s, bool to_all, uint64_t bytes, uint64_t ns);

/* Is one of so many bytes to go to all? While that isn't known, a large one may, to find out. */
bool gs_fanout_pays(const struct gs_fanout *s, uint64_t bytes);

#endif
