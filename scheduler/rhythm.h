/* SPDX-License-Identifier: MIT */
/* When a unit that others wait for will be given back: a daemon that is awake by then passes it on sooner by what it
 * takes to wake up, which is half of a hand-over. Pure: times are the caller's, nanoseconds.
 *
 * Units of one application on one resource are chunks of one size, so they mostly take equally long. Each application's
 * mean and mean deviation are kept per resource, and a time is foretold only where they are steady: the window is
 * GS_RHYTHM_WIDEST_NS wide at most, and a third of the unit's length. After a window in which nothing came, the next 2,
 * 4, 8, ... are left out. */
#ifndef GS_SCHEDULER_RHYTHM_H
#define GS_SCHEDULER_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

#define GS_RHYTHM_WIDEST_NS 40000

struct gs_rhythm {
    uint64_t since_ns; /* the unit that runs began; 0: not known */
    uint32_t units;    /* out */
    uint32_t seen;     /* units whose length is known */
    uint64_t mean_ns, deviation_ns;
    uint32_t misses, skip;
};

/* A unit is granted. `fresh`: no other is out. */
void gs_rhythm_granted(struct gs_rhythm *r, bool fresh, uint64_t now_ns);

/* `units` are out now, of those granted. */
void gs_rhythm_returned(struct gs_rhythm *r, uint32_t units, uint64_t now_ns);

/* True: the unit that runs will probably be given back between *from_ns and *until_ns. */
bool gs_rhythm_foretell(const struct gs_rhythm *r, uint64_t *from_ns, uint64_t *until_ns);

#endif
