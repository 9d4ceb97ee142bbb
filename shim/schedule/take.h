/* SPDX-License-Identifier: MIT */
/* Takes a command's units in the call that enqueues it, where it could run now: then it needs no gate. */
#ifndef GS_SHIM_SCHEDULE_TAKE_H
#define GS_SHIM_SCHEDULE_TAKE_H

#include "shim/schedule/deferred.h"

/* Comes it right after this one, on the same resource? Whatever else is enqueued in between counts as a call, and so
 * ends the chain: a marker with a wait list, or a command that we don't look into. With gs_deferred_list.lock held. */
static inline bool gs_is_next(const struct gs_deferred *before, unsigned resource, unsigned call)
{
    return before && before->resource == resource && call - before->call <= 1;
}

/* Takes the first unit beforehand, where the command could run now and the unit is there. It stands behind nothing but
 * units of ours that are running. `may_chain`: its queue is in order, and it waits for nothing else. Returns whether
 * there is need for a marker that tells when it could run. */
bool gs_take_now(struct gs_deferred *h, const struct gs_queue *q, bool may_chain);

/* The first unit was granted beforehand, and isn't used. */
void gs_take_back(struct gs_deferred *h);

#endif
