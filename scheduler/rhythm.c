/* SPDX-License-Identifier: MIT */
#include "scheduler/rhythm.h"

enum {
    KNOWN = 4,        /* units, before anything is foretold */
    WAKE_NS = 8000,   /* who is to be awake has to be woken so long before */
    MOST_MISSES = 10, /* 2^10 units are left out at most */
    WEIGHT = 8,       /* of what was seen before, against 1 of the last unit */
    OUTLIER = 4,      /* mean deviations: farther off counts as so far off */
    LEAST_NS = 1000,  /* of a deviation: the clock's own and the messages' */
    SHARE = 3,        /* of a unit's length is the window at most one SHAREth */
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void learn(struct gs_rhythm *r, uint64_t length_ns)
{
    if (r->seen < KNOWN) {
        r->mean_ns = (r->mean_ns * r->seen + length_ns) / (r->seen + 1);
        r->deviation_ns = r->seen ? (r->deviation_ns + distance(length_ns, r->mean_ns)) / 2 : LEAST_NS;
        r->seen++;
        return;
    }
    const uint64_t off = min_u64(distance(length_ns, r->mean_ns), OUTLIER * (r->deviation_ns + LEAST_NS));
    r->mean_ns = length_ns > r->mean_ns ? r->mean_ns + off / WEIGHT : r->mean_ns - off / WEIGHT;
    r->deviation_ns = (r->deviation_ns * (WEIGHT - 1) + off) / WEIGHT;
}

/* The window, whether or not it is one to be left out. */
static bool window(const struct gs_rhythm *r, uint64_t *from_ns, uint64_t *until_ns)
{
    if (!r->since_ns || r->seen < KNOWN)
        return false;
    const uint64_t deviation = r->deviation_ns > LEAST_NS ? r->deviation_ns : LEAST_NS, width = WAKE_NS + 3 * deviation;
    if (width > GS_RHYTHM_WIDEST_NS || width > r->mean_ns / SHARE)
        return false;
    const uint64_t expected = r->since_ns + r->mean_ns;
    *from_ns = expected - WAKE_NS - deviation;
    *until_ns = *from_ns + width;
    return true;
}

void gs_rhythm_granted(struct gs_rhythm *r, bool fresh, uint64_t now_ns)
{
    if (fresh)
        r->units = 0;
    if (!r->units++)
        r->since_ns = now_ns;
}

/* The window has been right, or not, or was left out. */
static void judge(struct gs_rhythm *r, uint64_t now_ns)
{
    uint64_t from, until;
    if (!window(r, &from, &until))
        return;
    if (r->skip) {
        r->skip--;
    } else if (now_ns <= until) {
        r->misses = 0;
    } else {
        r->misses += r->misses < MOST_MISSES;
        r->skip = UINT32_C(1) << r->misses;
    }
}

void gs_rhythm_returned(struct gs_rhythm *r, uint32_t units, uint64_t now_ns)
{
    if (r->since_ns && units >= r->units)
        return; /* nothing has come back since it was told last */
    if (r->since_ns && units + 1 == r->units) {
        judge(r, now_ns);
        learn(r, now_ns - r->since_ns);
    }
    r->units = units;
    r->since_ns = units ? now_ns : 0;
}

bool gs_rhythm_foretell(const struct gs_rhythm *r, uint64_t *from_ns, uint64_t *until_ns)
{
    return !r->skip && window(r, from_ns, until_ns);
}
