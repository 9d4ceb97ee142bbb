/* SPDX-License-Identifier: MIT */
/* One command of the application, from its call to its event: the operation, and the events that must end before.
 * Functions are called with the context's lock held, and don't block. */
#ifndef GS_SHIM_ORDER_COMMAND_H
#define GS_SHIM_ORDER_COMMAND_H

#include "shim/driver/enqueue.h"
#include "shim/record/objects.h"

struct gs_command {
    struct gs_op op; /* as the call gave it, like queue, wait list and event */
    cl_command_queue queue;
    cl_uint n_wait;
    const cl_event *wait;
    cl_event *event;    /* the place for the command's event; or null */
    struct gs_queue *q; /* our record of `queue`; null: an unknown queue, and the driver gets the command as it is */
    struct gs_context *ctx;     /* of q */
    const struct gs_job *units; /* goes by units of this job's (client/client.h); null: straight to the driver */
    struct gs_taken *spent;     /* the units' times are added here; or null */
    uint64_t serial;            /* counts the context's ordered commands, from 1; 0: not ordered yet */
    bool ordered;               /* `before` has been made */
    bool settled;               /* what its objects' earlier commands have come to has been looked at: gs_settle */
    bool turns_back;            /* a launch back on one device after splits: bytes fetched for it don't count */
    bool foreign;               /* a launch whose wait list has another context's event, which is not in `before` */
    struct gs_events before;    /* all earlier commands that might matter */
    struct gs_events ended;     /* ends of its parts, for which its event waits, ... */
    uint8_t at[GS_MOST_PLACED]; /* ... and their places: gs_command_ends_at */
    /* By place: the last copy within its memory to a window for another device; or null. Owned, made on need. */
    cl_event *left;
    /* Of a transfer that the call carries (shim/put/put.h): */
    void (*on_mark)(struct gs_command *cmd); /* called when there is a marker before the transfer's end, ... */
    cl_event marker;                         /* ... this one, which stands for the command in its queue; or null */
    struct gs_event *end;                    /* a user event that the marker waits for */
};

/* Hands the command on to the driver as the application gave it. */
static inline cl_int gs_command_pass(const struct gs_command *cmd)
{
    return gs_enqueue(&cmd->op, cmd->queue, cmd->n_wait, cmd->wait, cmd->event);
}

/* Does the wait list have both an address and a length, or neither? Returns the error. For commands whose list the
 * driver doesn't see; drivers disagree about an address with length 0. */
cl_int gs_command_list(const struct gs_command *cmd);
/* Fills cmd->before: earlier commands in all queues of the context, and the wait list. */
cl_int gs_command_order(struct gs_command *cmd);
/* The next end to be added to cmd->ended is of a command on that place. */
static inline void gs_command_ends_at(struct gs_command *cmd, unsigned place)
{
    if (cmd->ended.n < GS_MOST_PLACED)
        cmd->at[cmd->ended.n] = (uint8_t)place;
}
/* Empties cmd->before and cmd->ended. The next gs_command_order takes in all commands enqueued until then. */
void gs_command_end(struct gs_command *cmd);

/* For a transfer under way whose command was given up: later commands of the context wait for `end`, even if `end`
 * fails. Returns the event that they wait for, which the context owns; null: no memory. */
cl_event gs_command_leave(struct gs_context *ctx, cl_event end);

/* Later commands wait for these ends, of transfers behind the command's parts that its own end doesn't wait for. They
 * take the place of those of earlier commands, which the parts have waited for. If one fails, so does who waits. */
void gs_command_prefetches(const struct gs_command *cmd, const struct gs_events *ends);

/* Makes a user event with a record, a copy of *like. NULL with the error in *err. Any thread, no lock. */
struct gs_event *gs_event_new(struct gs_context *ctx, const struct gs_event *like, cl_int *err);

void gs_ends_free(struct gs_ends *ends);

/* Enqueues a marker behind the events in `wait`; with none, in an out-of-order queue, behind no command. */
cl_int gs_mark_out_of_order(struct gs_queue *q, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *out);

/* So many units of one launch, after its first, may be in a place's queues at a time. */
enum { GS_UNIT_QUEUES = 2 };

/* Our own queues behind one of the application's. In-order, made on first need, one a place unless said otherwise. */
enum gs_queue_kind {
    GS_TIMED_QUEUE, /* one on the first device; its profiles tell how long a launch took */
    GS_EXEC_QUEUE,  /* kernels; on the first device the application's own queue, which may be out-of-order */
    /* gs_command_flush flushes the queues above. Who uses one from below flushes it, as gs_put() does. */
    GS_QUEUES_FLUSHED,
    /* Transfers from this place to others. In one queue with transfers to this place, both would run one after the
     * other when devices exchange bytes. */
    GS_LEAVE_QUEUE = GS_QUEUES_FLUSHED,
    GS_COPY_QUEUE,   /* transfers to this place, and within it */
    GS_BESIDE_QUEUE, /* stands in for the copy queue while a call uses the copy queue alone (`called`) */
    /* Image commands. PoCL (3.1) aborts on an image command in a sub-device's queue, so sub-devices have one queue of
     * their parent; other devices use the copy queue. */
    GS_IMAGE_QUEUE,
    /* The queues below may be asked for without the context's lock: */
    GS_UNIT_QUEUE, /* units that were granted after the first unit of a command; the first of GS_UNIT_QUEUES queues */
    GS_UNIT_IMAGE_QUEUE = GS_UNIT_QUEUE + GS_UNIT_QUEUES, /* the same for image commands */
    GS_QUEUE_KINDS
};

/* Returns the queue; null with the error in *err. Ask again after each gs_command_flush: the flush leaves queues alone
 * that nobody has asked for. */
cl_command_queue gs_queue_of_kind(struct gs_queue *q, enum gs_queue_kind kind, unsigned place, cl_int *err);

/* A call begins, or ends, to use the copy queues alone, without the lock. False: another call does. */
bool gs_copy_queues_call(struct gs_queue *q, bool begins);

/* Makes our queues behind a new queue of the application. Null: no memory. */
struct gs_queue_set *gs_queue_set_new(cl_command_queue handle);
void gs_queue_set_free(struct gs_queue_set *queues);

/* Flushes our queues for launches, and then the application's queue. A command that waits for another queue's command
 * needs that queue flushed first (specification, clFlush); a device may have fewer hardware queues than we have queues,
 * and serves each in the order of the flushes. With the context's lock. */
void gs_command_flush(struct gs_queue *q);

/* ---- compound events ----
 *
 * A marker waits for several commands. The standard lets the marker fail as soon as one of the commands fails, while
 * others still write to memory. Later commands wait for the marker, and once the marker is seen to have failed, for the
 * unended commands as well. */

struct gs_queue_set {
    cl_command_queue of[GS_QUEUE_KINDS][GS_MAX_DEVICES];
    /* The context's lock: */
    uint32_t unsent[GS_QUEUES_FLUSHED]; /* a bit for each place, if asked for since a gs_command_flush */
    bool called;                        /* a call has the copy queues for itself, without the lock */
    struct gs_command *_Atomic carried; /* gs_queue_carried */
    struct gs_compound *several;        /* compound events, oldest first; owned */
    size_t n_several, several_cap;
};

/* While a call carries a transfer in this queue (shim/put/put.h): its command, owned by the call; or null. */
static inline struct gs_command *gs_queue_carried(const struct gs_queue *q)
{
    return atomic_load(&q->behind->carried);
}
static inline void gs_queue_carry(struct gs_queue *q, struct gs_command *cmd)
{
    atomic_store(&q->behind->carried, cmd);
}

/* With the context's lock held. */
struct gs_ends {
    struct gs_events orphans;         /* ends of commands given up, and of commands in released queues */
    struct gs_events unended, failed; /* commands of failed compound events; these events */
    struct gs_events prefetched;      /* by the launch with the serial number `prefetched_by` */
    uint64_t prefetched_by;
    uint64_t commands; /* so many commands were put in order so far */
    cl_event ended;    /* an event that has ended; made on first need */
};

/* Says that `end`, an event in the application's queue, stands for all events in `of`. Retains them. */
void gs_compound_add(struct gs_queue *q, cl_event end, const struct gs_events *of);

/* If the queue's newest or oldest compound event has failed, what still runs goes to `unended`. Null: of all queues. */
void gs_compound_look(struct gs_context *ctx, struct gs_queue *only);

/* Adds events to `to` that complete when all `unended` commands have ended, even by a failure. */
cl_int gs_compound_await(struct gs_context *ctx, struct gs_events *to);

/* The queue is released while its commands run on: later commands in other queues still wait for the running ones. */
void gs_compound_leave(struct gs_queue *q);

#endif
