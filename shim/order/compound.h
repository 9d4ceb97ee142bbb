/* SPDX-License-Identifier: MIT */
/* Events that stand for several commands: markers that wait for them. By the standard such an event may fail as soon as
 * one of those commands has, while others still write to memory. What comes next comes after the event, and so perhaps
 * before those. Nothing is done about it before the event is seen to have failed: until then what comes next waits for
 * it, and fails with it. With the context's lock held. */
#ifndef GS_SHIM_ORDER_COMPOUND_H
#define GS_SHIM_ORDER_COMPOUND_H

#include "shim/order/command.h"

struct gs_queue_set {
    cl_command_queue of[GS_QUEUE_KINDS][GS_MAX_DEVICES];
    /* The context's lock: */
    uint32_t unsent[GS_QUEUES_FLUSHED]; /* a bit for each place's that was asked for since gs_command_flush last sent it
                                           off */
    struct gs_compound *several;        /* the ends that stand for several commands, oldest first; owned */
    size_t n_several, several_cap;
};

/* With the context's lock held. */
struct gs_ends {
    struct gs_events orphans;         /* of queues that were released with commands in them, of commands given up */
    struct gs_events unended, failed; /* see compound.h: what ends when those have; and what they have let fail */
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
