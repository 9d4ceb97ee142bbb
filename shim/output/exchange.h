/* SPDX-License-Identifier: MIT */
/* What one place leaves in memory that the others' kernels reach (shim/memory/exchange_buffer.h), piece by piece, and
 * these take. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_EXCHANGE_H
#define GS_SHIM_OUTPUT_EXCHANGE_H

#include "shim/memory/exchange_buffer.h"

struct gs_giver {
    struct gs_exchange_buffer place;
    struct gs_events left, taken; /* of this piece */
};

/* A piece has been left and taken as far as it will be: the memory is in use until that has ended. The place `taker` is
 * one of those that take. */
cl_int gs_giver_give_back(struct gs_giver *g, struct gs_command *cmd, unsigned taker);

/* For the statistics: lets n words at `at` be read once all in the queue has ended, and counts the last of them, less
 * the first where there are several, times `scale`, plus `more`, as bytes of a merge. */
cl_int gs_count_exchanged(cl_command_queue queue, cl_mem mem, uint64_t at, unsigned n, uint64_t scale, uint64_t more,
                          struct gs_events *done);

#endif
