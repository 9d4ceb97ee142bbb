/* SPDX-License-Identifier: MIT */
/* A transfer of a scheduled application whose call blocks, by the driver's own way: the application's thread, which
 * waits anyway, waits for its turn with each piece. So there is no gate, and nobody to open it. */
#ifndef GS_SHIM_TRANSFER_TURNS_H
#define GS_SHIM_TRANSFER_TURNS_H

#include "shim/command.h"

struct gs_turns {
    cl_command_queue queue; /* of the application, in order */
    cl_mem mem;
    bool write;
    size_t offset, bytes;
    void *ptr;
    uint64_t chunk; /* bytes of a piece */
};

/* Carries it out once `before`, which it takes over, has ended; null: all before it has. The first piece is given the
 * wait list, so that the driver says what is wrong with it. The first and the last piece's events go to `ended`, if it
 * isn't null. Without the context's lock. */
cl_int gs_take_turns(const struct gs_turns *t, cl_event before, cl_uint n_wait, const cl_event *wait,
                     struct gs_events *ended);

#endif
