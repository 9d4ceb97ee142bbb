/* SPDX-License-Identifier: MIT */
/* How long a unit may last while others wait, and what happens to users that keep units longer. Pure: no clock.
 *
 * A unit may take `depth` chunks, by the config. Time beyond that is taken from the user's patience, one for all of the
 * user's processes without a task; a hundredth of the time that passes comes back. A unit for which no patience is left
 * is taken back. That is an offence: for a while, twice as long each time, the process stands behind all others, and
 * its user's processes without a task are *short*: one unit at a time, of one chunk at most. For ten minutes after that
 * there is no patience, except for a process that is woken late. */
#ifndef GS_SCHEDULER_PATIENCE_H
#define GS_SCHEDULER_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* The offences of a user or a process: how many, and until when it pays. */
struct gs_offences {
    unsigned n;
    uint64_t until_ns;
};

/* Counts an offence. Returns for how long to pay: 1 s, 2 s, 4 s, ... 1024 s. Ten minutes without one clear all. */
uint64_t gs_offend(struct gs_offences *o, uint64_t now_ns);

struct gs_user {
    uint32_t id;
    unsigned clients; /* that are connected now */
    struct gs_offences offences;
    uint64_t spent_ns, at_ns; /* spent patience, at that time */
};

bool gs_user_is_short(const struct gs_user *u, uint64_t now_ns);

/* For how long a unit may keep others waiting; never longer than the watchdog. chunk_ns: the longest chunk by the
 * config; 0: unknown, and the watchdog's time counts. `task`: the process's own patience counts alone, and is whole for
 * each unit. */
uint64_t gs_user_limit(const struct gs_user *u, uint64_t chunk_ns, unsigned depth, bool task, uint64_t watchdog_ns,
                       uint64_t now_ns);

/* A unit has kept others waiting for kept_ns. */
void gs_user_spend(struct gs_user *u, uint64_t chunk_ns, unsigned depth, uint64_t kept_ns, uint64_t now_ns);

/* A unit of the user has been taken back. */
void gs_user_offends(struct gs_user *u, uint64_t now_ns);

/* May the record be dropped? No process is connected, and nothing is owed. */
bool gs_user_is_blank(const struct gs_user *u, uint64_t now_ns);

#endif
