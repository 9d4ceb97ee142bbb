/* SPDX-License-Identifier: MIT */
/* How long a unit may last while others wait for it, and what becomes of those who keep it longer. Pure: no clock.
 *
 * A unit may take `depth` chunks, by the config. What it takes longer, all of a user's processes without a task
 * together may take from their user's patience, of which a hundredth of the time comes back. A unit for which none is
 * left is taken back. That is an offence: for a while, twice as long each time, the process stands behind all others,
 * and its user's processes without a task are *short*: they have one unit at a time, of one chunk at most. For ten
 * minutes after that there is no patience but for a process that is woken late. */
#ifndef GS_SCHEDULER_PATIENCE_H
#define GS_SCHEDULER_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* A user, or a process: how often it has offended, and until when it pays for it. */
struct gs_offences {
    unsigned n;
    uint64_t until_ns;
};

/* One more. Returns for how long: 1 s, 2 s, 4 s, ... 1024 s. After ten minutes without one all are forgotten. */
uint64_t gs_offend(struct gs_offences *o, uint64_t now_ns);

struct gs_user {
    uint32_t id;
    unsigned clients; /* that are connected now */
    struct gs_offences offences;
    uint64_t spent_ns, at_ns; /* of its patience, at that time */
};

bool gs_user_is_short(const struct gs_user *u, uint64_t now_ns);

/* For how long a unit may keep others waiting. `chunk_ns`: the longest chunk by the config, 0: it doesn't say, and a
 * unit may take as long as the watchdog gives it. Never longer than that. `task`: nobody's patience counts but its
 * own, which is whole for each unit. */
uint64_t gs_user_limit(const struct gs_user *u, uint64_t chunk_ns, unsigned depth, bool task, uint64_t watchdog_ns,
                       uint64_t now_ns);

/* A unit has kept others waiting for so long. */
void gs_user_spend(struct gs_user *u, uint64_t chunk_ns, unsigned depth, uint64_t kept_ns, uint64_t now_ns);

/* One of its units has been taken back. */
void gs_user_offends(struct gs_user *u, uint64_t now_ns);

/* Can it be forgotten? Nothing of it is connected, and it owes nothing. */
bool gs_user_is_blank(const struct gs_user *u, uint64_t now_ns);

#endif
