/* SPDX-License-Identifier: MIT */
/* One command of the application, from its call to its event: the operation, and the events that must have ended
 * before. All calls here and below are made with the context's lock held, and none of them blocks. */
#ifndef GS_SHIM_ORDER_COMMAND_H
#define GS_SHIM_ORDER_COMMAND_H

#include "shim/driver/enqueue.h"
#include "shim/record/objects.h"

struct gs_command {
    struct gs_op op;        /* what the application asks for */
    cl_command_queue queue; /* where, as it said */
    cl_uint n_wait;         /* its wait list */
    const cl_event *wait;
    cl_event *event;         /* where it wants the command's event; or null */
    struct gs_queue *q;      /* ours of that queue; null: the command is the driver's alone */
    struct gs_context *ctx;  /* of q */
    uint64_t serial;         /* of the ordered commands of the context, from 1; 0: not ordered yet */
    bool ordered;            /* `before` has been made */
    bool turns_back;         /* a launch that is on one device by choice: what comes home for it nobody needed there */
    bool foreign;            /* a launch whose list has another context's event: that isn't in `before` */
    struct gs_events before; /* everything that was enqueued earlier and might matter */
    /* By place: the end of the last copy within its memory, to a window that another device reads; or null. Owned, and
     * made on first need. */
    cl_event *left;
};

/* Hands the command on to the driver as the application gave it. */
static inline cl_int gs_command_pass(const struct gs_command *cmd)
{
    return gs_enqueue(&cmd->op, cmd->queue, cmd->n_wait, cmd->wait, cmd->event);
}

/* The error for a wait list whose address and length don't agree, where the driver doesn't see the list itself. Drivers
 * differ about an address of no events. */
cl_int gs_command_list(const struct gs_command *cmd);
/* Makes cmd->before: what the application enqueued before, on every queue of the context, and its wait list. */
cl_int gs_command_order(struct gs_command *cmd);
/* Forgets the order: a transfer that is made for the command later comes after all commands enqueued since. */
void gs_command_end(struct gs_command *cmd);

/* A transfer that ends with `end` is under way although its command has been given up. Later commands come after that
 * transfer, by the event that is returned, however it ends; the event is the context's. Null: there is no memory. */
cl_event gs_command_leave(struct gs_context *ctx, cl_event end);

/* A user event of ours with its record, which says what `like` does. NULL with *err. From any thread, with no lock. */
struct gs_event *gs_event_new(struct gs_context *ctx, const struct gs_event *like, cl_int *err);

/* What this room keeps of a new context. -ENOMEM. And its end. */
int gs_ends_make(struct gs_context *ctx);
void gs_ends_free(struct gs_ends *ends);

/* A marker of a queue that comes after these events; without any, after no other command if the queue allows. */
cl_int gs_mark_out_of_order(struct gs_queue *q, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *out);

/* So many units of a launch may run side by side on a place, behind the first. */
enum { GS_UNIT_QUEUES = 2 };

/* The queues behind one of the application's, in order, made on first need: one a place, unless said otherwise. */
enum gs_queue_kind {
    GS_TIMED_QUEUE, /* one, on the first device, whose profiles tell how long a launch took */
    GS_EXEC_QUEUE,  /* kernels; that of the first device is the application's own, which may be out of order */
    /* Who enqueues something in those behind flushes the queue himself, as gs_put() does. */
    GS_QUEUES_FLUSHED,
    /* Transfers that leave a place for others. In one queue with the transfers that arrive there they would wait for
     * these, and devices that exchange bytes would get them one after the other. */
    GS_LEAVE_QUEUE = GS_QUEUES_FLUSHED,
    GS_COPY_QUEUE,   /* other transfers */
    GS_BESIDE_QUEUE, /* the same while a call has that queue for itself */
    /* Image commands. PoCL (3.1) aborts on one given to a sub-device's queue: where the devices are sub-devices it is
     * one queue of their parent; else that of transfers. */
    GS_IMAGE_QUEUE,
    /* Those behind may be asked for without the context's lock: */
    GS_UNIT_QUEUE, /* granted units behind the first, and nothing else; and that after it */
    GS_UNIT_IMAGE_QUEUE = GS_UNIT_QUEUE + GS_UNIT_QUEUES, /* the same for image commands, as above */
    GS_QUEUE_KINDS
};

/* Null with an error in *err. After each gs_command_flush the caller asks anew for a queue that it flushes, before the
 * next command: it leaves those alone that nobody has asked for. */
cl_command_queue gs_queue_of_kind(struct gs_queue *q, enum gs_queue_kind kind, unsigned place, cl_int *err);

/* Those behind a new queue of the application's; null: no memory. */
struct gs_queue_set *gs_queue_set_new(cl_command_queue handle);
void gs_queue_set_free(struct gs_queue_set *queues);

/* Flushes the queues of launches behind the application's queue, and then that queue. A caller that lets a command of
 * one queue wait for a command of another flushes the other first: the specification wants that (clFlush), and a device
 * may have fewer ways in than queues, each of them served in the order of the flushes. With the context's lock. */
void gs_command_flush(struct gs_queue *q);

/* ---- command.c: events that stand for several commands ----
 *
 * A marker waits for the commands. By the standard it may fail as soon as one of them has, while others still write to
 * memory: what comes after the marker waits for these as well, once it is seen to have failed. Until then it waits for
 * the marker, and fails with it. */

struct gs_queue_set {
    cl_command_queue of[GS_QUEUE_KINDS][GS_MAX_DEVICES];
    /* The context's lock: */
    uint32_t unsent[GS_QUEUES_FLUSHED]; /* a bit for each place's that was asked for since gs_command_flush last sent it
                                           off */
    bool called;                        /* a call has the queues of transfers for itself, without the lock */
    struct gs_compound *several;        /* the ends that stand for several commands, oldest first; owned */
    size_t n_several, several_cap;
};

/* With the context's lock held. */
struct gs_ends {
    struct gs_events orphans;         /* of queues that were released with commands in them, of commands given up */
    struct gs_events unended, failed; /* see above: what ends when those have; and what they have let fail */
    uint64_t commands;                /* how many have been put in order so far */
    cl_event ended;                   /* one that has ended; made on first need */
};

/* The end of a command in the application's queue stands for all of these. Retains them. */
void gs_compound_add(struct gs_queue *q, cl_event end, const struct gs_events *of);

/* Has the last of them in a queue failed? Then those of its commands that haven't ended are the context's `unended`. */
void gs_compound_look(struct gs_queue *q);
void gs_compound_look_all(struct gs_context *ctx);

/* What must be waited for besides: `to` gets what ends well once those have ended, however they do. */
cl_int gs_compound_await(struct gs_context *ctx, struct gs_events *to);

/* The queue is let go, and its commands run on: what is enqueued elsewhere still comes after them. */
void gs_compound_leave(struct gs_queue *q);

#endif
