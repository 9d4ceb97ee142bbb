/* SPDX-License-Identifier: MIT */
/* The timeline of a queue of the application: which of its commands is the newest, and which are known to have ended,
 * by sequence numbers. Nothing else records either. Shared by the queue and by its commands under way. Without locks.
 *
 *   ended = 3                 enqueued = 5
 *   1  2  3 | 4  5            drained: ended == enqueued
 */
#ifndef GS_SHIM_EVENTS_TIMELINE_H
#define GS_SHIM_EVENTS_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

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

/* Something is enqueued whose end nothing tells of: gs_timeline_ended_before() the next command is false until somebody
 * has waited for the queue. */
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
