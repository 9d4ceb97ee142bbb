/* SPDX-License-Identifier: MIT */
/* What this room knows of a queue of the application's. */
#ifndef GS_SHIM_ORDER_QUEUES_H
#define GS_SHIM_ORDER_QUEUES_H

#include "shim/order/command.h"

struct gs_queues {
    cl_command_queue of[GS_QUEUE_KINDS][GS_MAX_DEVICES];
    /* The context's lock: */
    uint32_t
        unsent[GS_QUEUES_SENT];  /* a bit for each place's that was asked for since gs_command_flush last sent it off */
    struct gs_compound *several; /* the ends that stand for several commands, oldest first; owned */
    size_t n_several, several_cap;
};

#endif
