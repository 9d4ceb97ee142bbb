/* SPDX-License-Identifier: MIT */
/* The driver's events, and lists of them. Without locks: a list belongs to its owner. Only gs_events_wait blocks, and
 * gs_events_ended_by for a moment. */
#ifndef GS_SHIM_EVENTS_EVENTS_H
#define GS_SHIM_EVENTS_EVENTS_H

#include <stdlib.h>

#include "common/settings.h"
#include "shim/driver/real.h"

/* A growing list of events; owns a reference to each. */
struct gs_events {
    cl_event *v;
    cl_uint n;
    size_t cap;
};

/* Takes the event over; if there is no memory, releases it. */
cl_int gs_events_add(struct gs_events *e, cl_event event);
/* Adds a new reference. Adds a null as it is: the driver that gets the list judges it. */
cl_int gs_events_share(struct gs_events *e, cl_event event);
cl_int gs_events_share_all(struct gs_events *e, const struct gs_events *from);
void gs_events_free(struct gs_events *e);
/* Releases events that have completed, or with `failed` also failed ones. Returns how many are still under way. */
cl_uint gs_events_drop_complete(struct gs_events *e, bool failed);
/* Blocks until all have ended, well or badly. For commands enqueued before an error kept back the rest. */
void gs_events_wait(const struct gs_events *e);

/* Releases *old, if not null, and puts `event` there, whose reference it takes over; null is allowed. */
static inline void gs_event_replace(cl_event *old, cl_event event)
{
    GS_RELEASE(Event, *old);
    *old = event;
}

/* The driver's answer; a negative error if there is none. */
cl_int gs_event_status(cl_event event);
/* Sets the status of a user event of ours. Tries again if the driver refuses: commands would wait for ever. */
cl_int gs_event_end(cl_event event, cl_int status);
/* Has the event ended, well or badly? */
static inline bool gs_event_ended(cl_event event)
{
    return gs_event_status(event) <= CL_COMPLETE;
}

/* Null: it is no event. */
static inline cl_context gs_event_context(cl_event event)
{
    cl_context of = NULL;
    gs_real()->clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof of, &of, NULL);
    return of;
}

/* Have all ended by that time? Spins: being called back takes longer than an idle queue's marker. */
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

/* The places are known of so many ends of a command; what follows counts as home's. */
enum { GS_MOST_PLACED = 2 * GS_MAX_DEVICES };

/* ---- timelines ---- */

/* The timeline of a queue of the application: the number of the newest command, and of the newest that is known to have
 * ended with all before. Nothing else records either. Shared by the queue and its commands under way. Without locks.
 * A call takes a number when it begins, before its command is enqueued; a command of units takes one more when the
 * driver has got it. So units with a number up to the newest were enqueued before somebody asked for that.
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

/* A command of the application is about to be enqueued; returns its number. Under a daemon gs_timeline_end will be
 * called for it, or gs_timeline_enqueue_untracked; without one nobody asks. */
static inline unsigned gs_timeline_enqueue(struct gs_timeline *t)
{
    return atomic_fetch_add(&t->enqueued, 1) + 1;
}

/* Nobody calls gs_timeline_end for this command, so the queue isn't drained until a wait for the whole queue. Two
 * numbers, as whoever asks takes the newest for its own command's; a command may have a number of its own already. */
static inline void gs_timeline_enqueue_untracked(struct gs_timeline *t)
{
    atomic_fetch_add(&t->enqueued, 2);
}

/* This command and all before have ended. */
static inline void gs_timeline_end(struct gs_timeline *t, unsigned number)
{
    unsigned known = atomic_load(&t->ended);
    while ((int)(number - known) > 0 && !atomic_compare_exchange_weak(&t->ended, &known, number))
        ;
}

/* Are all commands before this number known to have ended? */
static inline bool gs_timeline_ended_before(struct gs_timeline *t, unsigned number)
{
    return (int)(number - atomic_load(&t->ended)) <= 1;
}

#endif
