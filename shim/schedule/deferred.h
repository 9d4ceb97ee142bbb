/* SPDX-License-Identifier: MIT */
/* A deferred command, and functions that the files of this room share. dispatch.c takes a command's first unit at once,
 * or holds the command back. resource_workers.c has the threads that give units to the driver. unit_ends.c hears of the
 * ends of units, and knows which commands of a queue have ended. deferred.c has the list and the tables of states. */
#ifndef GS_SHIM_SCHEDULE_DEFERRED_H
#define GS_SHIM_SCHEDULE_DEFERRED_H

#include "shim/schedule/dispatch.h"
#include "shim/report/watch.h"

/* The states of a deferred command, and of a single unit that several commands may share. deferred.c has the table from
 * a shared unit's state and an event to the next state and an action. Both states change with gs_deferred_list.lock
 * held, and gs_deferred_list.changed tells who waits. For the states of each unit see shim/client/client.h.
 *
 *   PREPARED --> ENQUEUED --> SERVED --> OVER        of the command
 *
 *   OPEN <--> JOINING --> LAST_JOINS --> CLOSED_LOOSE <--> TYING --> CLOSED --> SENDING --> SENT     of a shared unit
 */
enum gs_deferred_state {
    GS_PREPARED, /* none of the command's units is enqueued, and the command is in no list */
    GS_ENQUEUED, /* the first unit is enqueued, behind a gate unless already granted */
    GS_SERVED,   /* all units are on their way, or the command has failed */
    GS_OVER      /* all units that were on their way have ended */
};

enum gs_sharing {
    GS_SHARE_OPEN,         /* a launch that comes right after the last may join */
    GS_SHARE_OPEN_LOOSE,   /* likewise. From here to TYING the last command has no event, or may have none */
    GS_SHARE_JOINING,      /* a launch is about to be enqueued, by the thread that holds the context's lock */
    GS_SHARE_LAST_JOINS,   /* a launch is about to be enqueued, and is the last */
    GS_SHARE_CLOSED_LOOSE, /* no launch may join */
    GS_SHARE_TYING,        /* a thread is enqueueing a marker behind the last command */
    GS_SHARE_CLOSED,       /* no launch may join; also the state of a command that never shares its unit */
    GS_SHARE_SENDING,      /* a thread is flushing the queue */
    GS_SHARE_SENT,         /* the queue has been flushed, or will be without us */
    GS_SHARINGS
};

enum gs_share_event {
    GS_SHARE_JOIN,
    GS_SHARE_JOIN_LAST,
    GS_SHARE_JOINED,       /* the launch is enqueued, with an event; ... */
    GS_SHARE_JOINED_LOOSE, /* ... without one, or was refused. DO: the queue is to be flushed */
    GS_SHARE_CLOSE,        /* no more launches may join, but for one that is about to */
    GS_SHARE_SETTLE,       /* as CLOSE, but waits for threads that join, tie or send. DO: a marker is needed; ... */
    GS_SHARE_SEND,         /* the queue is to be flushed; ... */
    GS_SHARE_DONE,         /* ... and that is done */
    GS_SHARE_REFUSED,      /* the driver refuses the marker */
    GS_SHARE_LEAVE,        /* the unit has ended, or its queue's release flushes the queue */
    GS_SHARE_EVENTS
};

enum gs_share_action {
    GS_SHARE_WAIT = 1, /* for another thread, and look again */
    GS_SHARE_STAYS,    /* there is nothing to do */
    GS_SHARE_DO        /* the asking thread does the action, and then says so */
};

struct gs_deferred {
    struct gs_deferred *next; /* in the worker's list of its resource */
    atomic_int refs;  /* of the thread that serves the command, of each unit under way, and of each thread that waits */
    atomic_uint left; /* the units under way, and 1 more until the command is served; at 0 the command is over */
    atomic_int status;          /* CL_COMPLETE, or the first error of a unit */
    atomic_bool pending;        /* a thread began to wait for the command before its end */
    bool keeps;                 /* holds the queues: until it is served, unless that is within the call */
    bool behind;                /* the first unit of the command before hadn't ended when the call came */
    struct gs_deferred *before; /* that command; held, so that it stays in the list, until this one is there, too */
    cl_event ready;             /* a marker: all commands before have ended */
    unsigned ready_at;          /* the first unit that waits for `ready`; units.n: none does */
    cl_event open;              /* the gate, a user event */
    cl_event first;             /* unit 0; null: not enqueued yet */
    cl_event end;               /* of several units: a user event that a thread of ours ends */
    struct gs_event *record;    /* the record of `end`, with its times */
    struct gs_units units;      /* the wait list only during the call; the queues while `keeps` */
    struct gs_label label;      /* the label of the thread that enqueues the command */
    unsigned next_unit;
    atomic_uint_fast64_t took_ns; /* of several units: the sum of those that have ended */
    struct gs_timeline *timeline; /* of the application's queue if that is in-order; else null; held */
    /* gs_deferred_list.lock: */
    unsigned call; /* the call's number in the timeline; once the (last) command is enqueued, that command's own */
    enum gs_deferred_state state;
    struct gs_deferred *older, *newer; /* in the list of all commands under way */
    struct gs_deferred *follower;      /* the next command in the queue, begun when this command is served */
    /* Of a single unit that later launches may join: */
    struct gs_batch batch;
    enum gs_sharing sharing;
    cl_event tail;         /* the event of the last command that joined with an event, or null; owned */
    uint64_t joined_ns;    /* when the last command came */
    struct gs_unit unit[]; /* units.n */
};

/* All commands under way. */
struct gs_deferred_list {
    pthread_mutex_t lock;                            /* under it: only the completion's lock, and batch.c's */
    pthread_cond_t changed;                          /* a command was served, has joined a unit, or a unit was closed */
    struct gs_deferred *oldest, *newest;             /* linked by `newer` */
    atomic_uint_fast64_t called_ns;                  /* when the application last enqueued a command of units */
    atomic_int waiting;                              /* threads that wait in the driver: gs_queue_waits() */
    atomic_int loose;                                /* units in a loose state; written with the lock */
    atomic_uint_fast64_t ended_ns[GS_MAX_RESOURCES]; /* when the last unit of each resource ended */
};
extern struct gs_deferred_list gs_deferred_list;

static inline bool gs_is_served(const struct gs_deferred *h)
{
    return h->state >= GS_SERVED;
}

static inline bool gs_has_units(const struct gs_deferred *h)
{
    return h->units.n > 1;
}

/* Was the first unit granted before the command was enqueued? Then no gate is needed. */
static inline bool gs_is_taken(const struct gs_deferred *h)
{
    return gs_unit_is(h->unit, GS_UNIT_GRANTED);
}

/* Do commands begin there in the order in which they were enqueued? Our own queues are in-order. */
static inline bool gs_is_in_order(const struct gs_units *to)
{
    return to->queue != to->q->o.handle || !to->q->out_of_order;
}

/* Puts the command into the state, and wakes waiting threads. Checked builds (common/lock/rank.h) report mistakes. */
void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to);

/* Takes the event to the table; waits for other threads first if the table says so, with the list's lock open, so h
 * must be held. True: the caller must act. */
bool gs_share_on(struct gs_deferred *h, enum gs_share_event event);

/* Would gs_share_on wait for another thread? */
bool gs_share_waits(const struct gs_deferred *h, enum gs_share_event event);

/* Might a launch join? */
static inline bool gs_share_is_open(const struct gs_deferred *h)
{
    return h->sharing <= GS_SHARE_OPEN_LOOSE;
}

/* Has the unit's last command no event, or might it have none? */
static inline bool gs_share_is_loose(const struct gs_deferred *h)
{
    return h->sharing >= GS_SHARE_OPEN_LOOSE && h->sharing <= GS_SHARE_TYING;
}

/* ---- deferred.c ---- */

/* Sets the command's status, unless an error is there already. */
void gs_deferred_set_error(struct gs_deferred *h, cl_int status);

/* If the command `before` is served and has failed before anything of it has run, then h, which the application has
 * enqueued before that, fails too. Either may be null. With gs_deferred_list.lock held. */
void gs_deferred_fail_with(const struct gs_deferred *before, struct gs_deferred *h);

/* Puts the command into the list. True: the command before in the queue isn't served yet, and begins h later as its
 * `follower`: the caller does no more. False: the caller begins the command, or waits for `ready`. (Each awaited event
 * costs the driver work again and again: with 2,000 pieces of 16 KiB 1.4 ms for each piece, on an H200.) */
bool gs_deferred_insert(struct gs_deferred *h);

/* The newest command under way in a queue; null: none. With gs_deferred_list.lock held. */
struct gs_deferred *gs_deferred_last_in(cl_command_queue queue);

/* Have all commands of earlier calls in the application's queue ended, and are the units of `last`, the newest under
 * way (or null), on their way? With gs_deferred_list.lock held. */
bool gs_queue_is_drained(struct gs_queue *q, const struct gs_deferred *last);

/* Have all commands under way the units that they need? If not, a command that holds a unit while it waits might keep
 * that unit from a command before it. With gs_deferred_list.lock held. */
bool gs_deferred_all_served(void);

/* Holds the command. False: its last user has gone, and will free h. With gs_deferred_list.lock held. */
bool gs_deferred_keep(struct gs_deferred *h);

void gs_deferred_drop(struct gs_deferred *h);

/* To be called when the command is served, and as each unit ends; the last call ends the command. */
void gs_deferred_done(struct gs_deferred *h);

/* Drops the reference of the thread that serves the command, and the queues that the command keeps. Not from a
 * callback: at the last release of a queue a driver may wait for commands. */
void gs_deferred_finish(struct gs_deferred *h);

/* ---- unit_ends.c ---- */

/* Gives the unit back once the device is done. `event`: the unit's; ignored while later launches may join the unit. */
void gs_unit_watch(struct gs_deferred *h, struct gs_unit *u, cl_event event);

/* ---- resource_workers.c ---- */

void gs_workers_set_up(void);
bool gs_workers_start(void); /* false: no thread */

/* Asks for the first unit and waits, `ns` at most. True: granted. False: the worker may have the open request now, and
 * takes no unit until the caller calls gs_worker_take(h) or gs_worker_undo(h). */
bool gs_worker_request(struct gs_deferred *h, uint64_t ns);
void gs_worker_undo(const struct gs_deferred *h);

/* The command's first unit is enqueued: begins the command, now or once it could run. */
void gs_worker_take(struct gs_deferred *h);

#endif
