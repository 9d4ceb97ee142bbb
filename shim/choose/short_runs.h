/* SPDX-License-Identifier: MIT */
/* Commands whose processes end soon and split nothing, for which a context over all of them would be
 * paid in vain: on H200s 110 ms a device at its beginning and 57 at its end, where a small process takes a second. Kept
 * from process to process in the cache, by executable, arguments, folder and devices. */
#ifndef GS_SHIM_CHOOSE_SHORT_RUNS_H
#define GS_SHIM_CHOOSE_SHORT_RUNS_H

#include "shim/devices/group.h"

/* How many devices a context of the group is to be made over: one where the last three processes of this command have
 * each ended soon, and split nothing; else all. */
unsigned gs_short_runs_devices(const struct gs_group *g);

/* The sentence for launches in such a context; NULL: it isn't one. */
const char *gs_short_runs_reason(void);

/* A context over n devices has been made, which took so long. */
void gs_short_runs_made(unsigned n, uint64_t took_ns);

#endif
