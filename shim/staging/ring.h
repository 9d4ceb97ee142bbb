/* SPDX-License-Identifier: MIT */
/* A ring of equal slots for transfers, with the events after which each slot is free again. Who takes a slot waits for
 * its last use in the device's queues, never on the host: an earlier transfer never waits for a later one. */
#ifndef GS_SHIM_STAGING_RING_H
#define GS_SHIM_STAGING_RING_H

#include "shim/order/command.h"

enum { GS_RING_SLOTS = 16 };

struct gs_ring {
    struct gs_events use[GS_RING_SLOTS]; /* the ends of each slot's last use, by one or by several at once */
    /* Earlier uses, the oldest first, until that has ended: a use may fail before the commands in its wait list. */
    struct gs_events earlier[GS_RING_SLOTS];
    unsigned next;
};

/* The next of the ring's n slots. `wait`, which has what the transfer itself waits for, gains the slot's last use. */
cl_int gs_ring_take(struct gs_ring *r, unsigned n, unsigned *slot, struct gs_events *wait);
/* The slot is in use until `event`, which is retained; and until this one as well. */
void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event);
void gs_ring_add(struct gs_ring *r, unsigned slot, cl_event event);
/* No use is under way. */
bool gs_ring_is_idle(const struct gs_ring *r);
void gs_ring_free(struct gs_ring *r);

#endif
