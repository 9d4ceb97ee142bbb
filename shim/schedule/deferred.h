/* SPDX-License-Identifier: MIT */
/* A deferred command, and the functions that the files of this room share: dispatch.c takes a command's first unit at
 * once or holds the command back, resource_workers.c has the threads that give units to the driver, unit_ends.c hears
 * of the ends of units, and knows which commands of a queue have ended. deferred.c has the list of all commands under
 * way, and says which state may follow which. */
#ifndef GS_SHIM_SCHEDULE_DEFERRED_H
#define GS_SHIM_SCHEDULE_DEFERRED_H

#include "shim/schedule/dispatch.h"
#include "shim/report/watch.h"

/* The states of a deferred command, and of its unit where others may share it; deferred.c has the table from a shared
 * unit's state and an event to the next state, and to what is done. Both change with gs_deferred_list.lock held, and
 * gs_deferred_list.changed tells who waits. Those of each unit are in shim/client/client.h.
 *
 *   PREPARED --> ENQUEUED --> SERVED --> OVER        of the command
 *
 *   JOINING <--> OPEN --> LAST_JOINS --> CLOSED <--> CLOSING --> SENT        of a unit that others may share
 *                 '------------------------^
 */
enum gs_deferred_state {
    GS_PREPARED, /* no unit of it is enqueued; it is in no list */
    GS_ENQUEUED, /* its first unit is, behind a gate unless it is granted */
    GS_SERVED,   /* all its units are on their way, or it has failed */
    GS_OVER      /* all that were on their way have ended */
};

enum gs_sharing {
    GS_SHARE_OPEN,       /* a launch that comes right after it may join */
    GS_SHARE_JOINING,    /* one is about to be enqueued, by who holds the context's lock */
    GS_SHARE_LAST_JOINS, /* the same, and none after it */
    GS_SHARE_CLOSED,     /* none may join. So is a command that nothing may share */
    GS_SHARE_CLOSING,    /* a thread enqueues the marker that ends it, or sends it off */
    GS_SHARE_SENT,       /* it has been sent off, or will be without us */
    GS_SHARINGS
};

enum gs_share_event {
    GS_SHARE_JOIN,
    GS_SHARE_JOIN_LAST,
    GS_SHARE_JOINED,  /* that one is enqueued, or refused */
    GS_SHARE_CLOSE,   /* no more may join, but for one that is about to */
    GS_SHARE_SETTLE,  /* the same, and no thread is about to do anything */
    GS_SHARE_TIE,     /* a marker is to be enqueued behind it; ... */
    GS_SHARE_TIED,    /* ... it is */
    GS_SHARE_SEND,    /* it is to be sent off; ... */
    GS_SHARE_IS_SENT, /* ... it is */
    GS_SHARE_LEAVE,   /* it has ended, or its queue sends it off */
    GS_SHARE_EVENTS
};

enum gs_share_action {
    GS_SHARE_WAIT = 1, /* for another thread, and look again */
    GS_SHARE_STAYS,    /* there is nothing to do */
    GS_SHARE_DO        /* whoever has asked does it, and says so */
};

/* The commands before this one in its queue. */
enum gs_behind {
    GS_BEHIND_NOTHING, /* it could run now */
    GS_BEHIND_LAST,    /* the last command of its queue alone, or what has its units: its order keeps it back */
    GS_BEHIND_OTHERS,  /* what `ready` waits for */
};

struct gs_deferred {
    struct gs_deferred *next; /* in its resource's list */
    atomic_int refs;          /* the thread that serves it, each unit under way, and who waits for it */
    atomic_uint left;         /* as long as it isn't served: 1; and each unit under way */
    atomic_int status;        /* CL_COMPLETE, or the first error of a unit */
    atomic_bool pending;      /* it had not ended when somebody began to wait for its end */
    unsigned resource;
    cl_event ready;          /* the commands before have ended */
    cl_event open;           /* the gate: a user event */
    cl_event first;          /* unit 0; null: not enqueued yet */
    cl_event end;            /* of several units: a user event, which a thread of ours ends */
    struct gs_event *record; /* what is known of `end`: its times */
    struct gs_units units;
    enum gs_length length; /* of each of them */
    cl_command_queue home; /* where the gate is */
    /* The application's queue, held with the queues behind it, as `home` is, until all is served; or null. */
    struct gs_queue *kept;
    struct gs_label label; /* of whoever asked for it */
    unsigned next_unit;
    atomic_uint_fast64_t took_ns; /* of several units: those that have ended */
    /* Of one that comes right after another in its queue, see gs_run_units(). */
    unsigned call;                /* its number in the timeline of the application's queue */
    unsigned order;               /* of a single unit, when the last of it was enqueued. gs_deferred_list.lock */
    struct gs_timeline *timeline; /* of the application's queue, if that is in order; or null; held */
    enum gs_behind behind;
    /* gs_deferred_list.lock: */
    enum gs_deferred_state state;
    struct gs_deferred *older, *newer; /* in the list of all that are under way */
    struct gs_deferred *follower;      /* to be served after it */
    /* Of a single unit, which commands that come right after it in the queue may join: */
    struct gs_batch batch;
    enum gs_sharing sharing;
    cl_event tail;         /* the event of the last command that has joined with an event, or null; owned */
    bool loose;            /* its last command has none */
    uint64_t joined_ns;    /* when the last has come */
    uint64_t granted_ns;   /* 0: not yet */
    struct gs_unit unit[]; /* units.n */
};

/* All that are under way. */
struct gs_deferred_list {
    pthread_mutex_t lock;                /* a leaf, but for gs_completion_claim */
    pthread_cond_t changed;              /* one has been served, or has joined, or is closed */
    struct gs_deferred *oldest, *newest; /* by `newer` */
    atomic_uint order;                   /* what has been enqueued as a unit, or part of one; written with the lock */
    atomic_uint_fast64_t called_ns;      /* when the application last called for a command that goes by units */
    atomic_int waiting;                  /* threads, see gs_queue_waits() */
    atomic_int loose;                    /* those of which nobody has an event */
    atomic_uint_fast64_t ended_ns[GS_MAX_RESOURCES]; /* when a unit of each has ended last */
};
extern struct gs_deferred_list gs_deferred_list;

/* Are all its units on their way? With gs_deferred_list.lock held. */
static inline bool gs_is_served(const struct gs_deferred *h)
{
    return h->state >= GS_SERVED;
}

static inline bool gs_has_units(const struct gs_deferred *h)
{
    return h->units.n > 1;
}

/* Was the first unit granted before it was enqueued? Then it needs no gate. */
static inline bool gs_is_taken(const struct gs_deferred *h)
{
    return gs_unit_is(h->unit, GS_UNIT_GRANTED);
}

/* It is in that state from now on. What must not happen is reported where locks are checked (common/lock/rank.h). */
void gs_deferred_to(struct gs_deferred *h, enum gs_deferred_state to);

/* Takes the event to the table, once no other thread is to be waited for; meanwhile the list's lock is open, and
 * h is to be held. True: the caller is to do what it has asked for. */
bool gs_share_on(struct gs_deferred *h, enum gs_share_event event);

/* Would another thread be waited for? */
bool gs_share_waits(const struct gs_deferred *h, enum gs_share_event event);

/* Is a command about to join? */
static inline bool gs_share_is_joining(enum gs_sharing sharing)
{
    return sharing == GS_SHARE_JOINING || sharing == GS_SHARE_LAST_JOINS;
}

/* ---- deferred.c ---- */

/* Its status is this error, if it is the first. */
void gs_deferred_set_error(struct gs_deferred *h, cl_int status);

/* Puts it into the list. True: the command before it in the queue, in order, isn't served yet, and sees to this one
 * when it is. Then a command of the same resource asks for its first unit, so that the unit is queued when the one
 * before ends; of any other the end of what it stands behind is awaited, not sooner: the driver is asked for each that
 * is awaited, each time. (With 2,000 pieces of 16 KiB that took 1.4 ms for each, on an H200.) */
bool gs_deferred_enlist(struct gs_deferred *h);

/* The last of those under way in a queue. With gs_deferred_list.lock held. */
struct gs_deferred *gs_deferred_last_in(cl_command_queue queue);

/* Have all commands under way the units that they need? If not, a command that holds a unit while it waits might keep
 * that unit from a command which it waits for. With gs_deferred_list.lock held. */
bool gs_deferred_all_served(void);

/* With gs_deferred_list.lock held. False: its last user has let it go, and is about to take it off the list. */
bool gs_deferred_keep(struct gs_deferred *h);

void gs_deferred_drop(struct gs_deferred *h);

/* The command is served, or one of its units has ended: with the last of these it is over. Before gs_deferred_drop. */
void gs_deferred_done(struct gs_deferred *h);

/* The drop of who serves it, and of the queues that it keeps. Not from a callback: a driver may wait for a queue's
 * commands when it is released for the last time. */
void gs_deferred_finish(struct gs_deferred *h);

/* ---- unit_ends.c ---- */

/* Gives the unit back when the device is done. `event` is the held command's first unit where that may be joined. */
void gs_unit_watch(struct gs_deferred *h, struct gs_unit *u, cl_event event);

/* ---- resource_workers.c ---- */

void gs_workers_set_up(void);

/* Asks for the first unit of the command and waits for it so long at most. False: the worker may have the request, and
 * takes no unit until the command comes by gs_worker_take, or doesn't come: gs_worker_undo. */
bool gs_worker_request(struct gs_deferred *h, uint64_t ns);
void gs_worker_undo(const struct gs_deferred *h);

/* The first unit of the command is enqueued: it is served once it could run. */
void gs_worker_take(struct gs_deferred *h);

#endif
