/* SPDX-License-Identifier: MIT */
/* Transfers that a call carries itself, while the context is unlocked: put/put.h. */
#ifndef GS_SHIM_API_RING_USE_H
#define GS_SHIM_API_RING_USE_H

#include "shim/api/home.h"

/* A read or write of a root through the ring, with a place for each extent. */
struct gs_ring_use {
    struct gs_carry carried; /* first */
    struct gs_host_use use;  /* of the call's own object, which holds its root */
    struct gs_op_run *v;
    unsigned n;
    struct gs_events ready; /* events to wait for, beside h's wait list; without a marker, all earlier commands */
    cl_event marker; /* behind all earlier commands; or null. A call that needn't block has entered the ring instead */
    bool times_link; /* the transfer's time is to tell of the link; not if a wait is in it */
};

/* gs_staging_may_carry has said yes: does the transfer go through the ring? If so, a blocking call has its marker,
 * since memory that the call reads may be written until then; another call has entered the ring. */
bool gs_ring_prepare(struct gs_home *h, struct gs_ring_use *w);

/* Around a transfer that the call carries (put/put.h), entered and left with the context locked, which is unlocked in
 * between: gs_carry_begin, and gs_carry_end with *own as the event. */
void gs_home_carry_begin(struct gs_home *h, struct gs_ring_use *w);
cl_int gs_home_carry_end(struct gs_home *h, struct gs_ring_use *w, cl_int err, struct gs_placed *ended, cl_event *own);

/* Carries the transfer through the ring as one command, *own. The context is unlocked meanwhile. */
cl_int gs_carry_by_ring(struct gs_home *h, struct gs_ring_use *w, cl_event *own);

/* Notes a write at its place, without counting its bytes as left by a launch. */
void gs_ring_wrote(const struct gs_ring_use *w);

#endif
