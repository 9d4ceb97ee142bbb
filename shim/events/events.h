/* SPDX-License-Identifier: MIT */
/* Events of the driver's, and lists of them. Without locks: a list is its owner's. None of these calls blocks but
 * gs_events_wait, and gs_events_ended_by for a moment. */
#ifndef GS_SHIM_EVENTS_EVENTS_H
#define GS_SHIM_EVENTS_EVENTS_H

#include <stdlib.h>

#include "shim/driver/real.h"

/* A growing list of events, each of which it owns. */
struct gs_events {
    cl_event *v;
    cl_uint n;
    size_t cap;
};

/* Takes the event over; releases it if there is no memory. */
cl_int gs_events_add(struct gs_events *e, cl_event event);
/* Adds another reference; a null as it is: the driver that gets the list says what it makes of that. */
cl_int gs_events_share(struct gs_events *e, cl_event event);
cl_int gs_events_share_all(struct gs_events *e, const struct gs_events *from);
void gs_events_free(struct gs_events *e);
/* Lets those go that have ended well, or with `failed` however they have. Returns how many are under way. */
cl_uint gs_events_drop_complete(struct gs_events *e, bool failed);
/* Blocks until all of them have ended, well or badly: for what was enqueued before an error kept the rest from it. */
void gs_events_wait(const struct gs_events *e);

/* As the driver says; an error of its own where it can't. */
cl_int gs_event_status(cl_event event);
/* Gives a user event of ours its status. A driver that refuses once may not twice, and who waits would for ever. */
cl_int gs_event_end(cl_event event, cl_int status);
/* Has it ended, well or badly? */
static inline bool gs_event_ended(cl_event event)
{
    return gs_event_status(event) <= CL_COMPLETE;
}

/* Have all of them ended by then? Looks until they have: to be called back takes longer than an idle queue's marker. */
bool gs_events_ended_by(const struct gs_events *e, uint64_t end_ns);

static inline bool gs_event_is_in(const struct gs_events *e, cl_event event)
{
    cl_uint i = 0;
    while (i < e->n && e->v[i] != event)
        i++;
    return i < e->n;
}

static inline bool gs_events_ended(const struct gs_events *e)
{
    bool all = true;
    for (size_t i = 0; i < e->n && all; i++)
        all = gs_event_ended(e->v[i]);
    return all;
}

/* ---- timelines ---- */

/* The timeline of a queue of the application: which of its commands is the newest, and which are known to have ended,
 * by sequence numbers. Nothing else records either. Shared by the queue and by its commands under way. Without locks.
 *
 *   ended = 3                 enqueued = 5
 *   1  2  3 | 4  5            drained: ended == enqueued
 */
struct gs_timeline {
    atomic_int refs;
    atomic_uint enqueued; /* the number of the newest command; an untracked one takes two numbers */
    atomic_uint ended;    /* this command and all before it have ended */
};

/* Null: no memory. */
static inline struct gs_timeline *gs_timeline_new(void)
{
    struct gs_timeline *t = calloc(1, sizeof *t);
    if (t)
        atomic_init(&t->refs, 1);
    return t;
}

static inline struct gs_timeline *gs_timeline_hold(struct gs_timeline *t)
{
    atomic_fetch_add(&t->refs, 1);
    return t;
}

/* Null is allowed. */
static inline void gs_timeline_drop(struct gs_timeline *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

static inline unsigned gs_timeline_newest(struct gs_timeline *t)
{
    return atomic_load(&t->enqueued);
}

/* A command of the application is about to be enqueued. Its end will be told of. */
static inline void gs_timeline_enqueue(struct gs_timeline *t)
{
    atomic_fetch_add(&t->enqueued, 1);
}

/* Nothing tells of this command's end: gs_timeline_ended_before() the next is false until a wait for the queue. */
static inline void gs_timeline_enqueue_untracked(struct gs_timeline *t)
{
    atomic_fetch_add(&t->enqueued, 2);
}

/* This command and all before it have ended. */
static inline void gs_timeline_end(struct gs_timeline *t, unsigned number)
{
    unsigned known = atomic_load(&t->ended);
    while ((int)(number - known) > 0 && !atomic_compare_exchange_weak(&t->ended, &known, number))
        ;
}

/* Has all that came before this command ended, as far as is known? */
static inline bool gs_timeline_ended_before(struct gs_timeline *t, unsigned number)
{
    return number - atomic_load(&t->ended) <= 1;
}

#endif
