/* SPDX-License-Identifier: MIT */
/* What this room knows of a queue of the application's, and of a context. */
#ifndef GS_SHIM_ORDER_QUEUES_H
#define GS_SHIM_ORDER_QUEUES_H

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

#endif
