/* SPDX-License-Identifier: MIT */
/* A ring of equal slots that transfers pass through, and the events that say when a slot is free again. Who takes a
 * slot waits for its last use in the device's queues, never on the host: an earlier transfer never waits for a later
 * one. */
#ifndef GS_SHIM_STAGING_RING_H
#define GS_SHIM_STAGING_RING_H

#include "shim/order/command.h"

enum { GS_RING_SLOTS = 16 };

struct gs_ring {
    struct gs_events use[GS_RING_SLOTS]; /* the ends of each slot's last use, by one or by several at once */
    /* Those before, the oldest first, as long as it hasn't ended: a use that fails may end before what it waited for.
     */
    struct gs_events earlier[GS_RING_SLOTS];
    unsigned next;
};

/* Of these uses those that are under way. One that ended badly is not to be waited for: whoever does ends badly too. */
cl_int gs_ring_share_running(struct gs_events *wait, const struct gs_events *of);
/* The next slot, or the first of so many beside each other, less than a ring's. `wait`, which starts as what the
 * transfer itself waits for, gains their last use. */
cl_int gs_ring_take(struct gs_ring *r, unsigned n, unsigned *slot, struct gs_events *wait);
/* The slot is in use until `event`, which is retained; and until this one as well. */
void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event);
void gs_ring_add(struct gs_ring *r, unsigned slot, cl_event event);
/* `ends` gains the ends of all uses that are under way. */
cl_int gs_ring_uses(const struct gs_ring *r, struct gs_events *ends);
void gs_ring_free(struct gs_ring *r);

#endif
