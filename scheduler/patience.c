/* SPDX-License-Identifier: MIT */
#include "scheduler/patience.h"

#include "common/config.h"

#define NS_PER_S UINT64_C(1000000000)
#define LEAST_NS ((uint64_t)GS_CONFIG_PATIENCE_NS)
#define LATE_NS ((uint64_t)GS_CONFIG_LATE_NS) /* a process may be woken so late */
#define FORGET_NS ((uint64_t)GS_CONFIG_FORGET_NS)
enum { MOST_DOUBLINGS = 10 };

static bool is_remembered(const struct gs_offences *o, uint64_t now_ns)
{
    return o->n && now_ns <= o->until_ns + FORGET_NS;
}

uint64_t gs_offend(struct gs_offences *o, uint64_t now_ns)
{
    if (!is_remembered(o, now_ns))
        o->n = 0;
    const uint64_t penalty = NS_PER_S << (o->n < MOST_DOUBLINGS ? o->n : MOST_DOUBLINGS);
    o->n++;
    o->until_ns = now_ns + penalty;
    return penalty;
}

bool gs_user_is_short(const struct gs_user *u, uint64_t now_ns)
{
    return now_ns < u->offences.until_ns;
}

static uint64_t patience(uint64_t chunk_ns, unsigned depth)
{
    return chunk_ns * depth > LEAST_NS ? chunk_ns * depth : LEAST_NS;
}

static uint64_t spent(const struct gs_user *u, uint64_t now_ns)
{
    const uint64_t back = (now_ns - u->at_ns) / GS_CONFIG_COMES_BACK;
    return u->spent_ns > back ? u->spent_ns - back : 0;
}

uint64_t gs_user_limit(const struct gs_user *u, uint64_t chunk_ns, unsigned depth, bool task, uint64_t watchdog_ns,
                       uint64_t now_ns)
{
    if (!chunk_ns)
        return watchdog_ns;
    uint64_t limit;
    if (!task && gs_user_is_short(u, now_ns)) {
        limit = chunk_ns > LATE_NS ? chunk_ns : LATE_NS;
    } else if (!task && is_remembered(&u->offences, now_ns)) {
        limit = chunk_ns * depth + LATE_NS;
    } else {
        const uint64_t all = patience(chunk_ns, depth), gone = task ? 0 : spent(u, now_ns);
        limit = chunk_ns * depth + (all > gone ? all - gone : 0);
    }
    return limit < watchdog_ns ? limit : watchdog_ns;
}

void gs_user_spend(struct gs_user *u, uint64_t chunk_ns, unsigned depth, uint64_t kept_ns, uint64_t now_ns)
{
    if (!chunk_ns || kept_ns <= chunk_ns * depth)
        return;
    u->spent_ns = spent(u, now_ns) + kept_ns - chunk_ns * depth;
    u->at_ns = now_ns;
}

void gs_user_offends(struct gs_user *u, uint64_t now_ns)
{
    gs_offend(&u->offences, now_ns);
    u->spent_ns = 0;
    u->at_ns = now_ns;
}

bool gs_user_is_blank(const struct gs_user *u, uint64_t now_ns)
{
    return !u->clients && !spent(u, now_ns) && !is_remembered(&u->offences, now_ns);
}
