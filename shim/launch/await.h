/* SPDX-License-Identifier: MIT */
/* What a launch waits for before auto mode decides on it, where that loses nothing since the device is busy: what the
 * first launch of its kind takes, and its program's translation (docs/choice.md). Without locks. */
#ifndef GS_SHIM_LAUNCH_AWAIT_H
#define GS_SHIM_LAUNCH_AWAIT_H

#include "shim/subkernel/launching.h"

/* Nothing is known yet of how long it takes: waits a little for what may be known soon where the
 * application goes on enqueueing. Not where it may have to call again for anything to begin. */
void gs_await_known(struct gs_launching *l);

/* In multi mode, where it isn't known yet where to cut between devices that differ, for a split that will show. Without
 * locks. */
void gs_await_cut(struct gs_launching *l);

/* Its translation is being made, and compiled: waits for that, for two seconds at most, while the device is busy. */
void gs_await_prepared(struct gs_launching *l);

#endif
