/* SPDX-License-Identifier: MIT */
/* One command that moves rows of bytes, or texels, from one location to another. Nothing blocks. */
#ifndef GS_SHIM_TRANSFER_MOVE_H
#define GS_SHIM_TRANSFER_MOVE_H

#include "shim/order/command.h"
#include "shim/put/put.h"

/* Where the rows are: in a buffer, an image, or the host's memory. */
struct gs_location {
    cl_mem mem;
    char *ptr;          /* of the host's memory, where no gaps are between rows; mem is null then */
    uint64_t at, pitch; /* where the first begins in mem, and how far apart they are; of packed rows their width */
    const struct gs_mem *image; /* whose texels are in mem, laid out without gaps as far as `at` goes; or null */
};

/* A command of a transfer: in which queue, after what; and its end, which is the caller's. */
struct gs_step {
    cl_command_queue queue;
    const struct gs_events *after;
    cl_event *end;
    unsigned place; /* the device of the queue */
    enum gs_via via;
};

/* Rows of r->width bytes; of an image one row, which is whole rows of texels. */
cl_int gs_move(const struct gs_location *from, const struct gs_location *to, const struct gs_rect *r,
               const struct gs_step *step);

#endif
