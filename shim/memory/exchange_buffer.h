/* SPDX-License-Identifier: MIT */
/* Memory that the kernels of two devices reach, so that the one leaves there what the other picks up, and only what is
 * picked up travels: the peer window of the giving GPU; a buffer where both devices work in the host's memory. With the
 * context's lock held; nothing blocks. */
#ifndef GS_SHIM_MEMORY_EXCHANGE_BUFFER_H
#define GS_SHIM_MEMORY_EXCHANGE_BUFFER_H

#include "shim/order/command.h"

/* Of a window's slots half are left to others. */
enum { GS_EXCHANGE_BUFFER_BYTES = 16 * 1024 * 1024, GS_EXCHANGE_BUFFER_MOST_BYTES = 8 * GS_EXCHANGE_BUFFER_BYTES };

struct gs_exchange_buffer {
    struct gs_context *ctx;
    unsigned from;
    bool window;
    cl_mem left;                  /* the memory as kernels on the giving device are given it, */
    cl_mem taken[GS_MAX_DEVICES]; /* and as those on others are */
    uint64_t at;                  /* where what was asked for begins: set by gs_exchange_buffer_take */
    uint64_t end;                 /* behind its last byte; there it goes on from 0 */
    unsigned slot, n_slots;
    cl_event last; /* the last use of a buffer, or null; owned */
};

/* May kernels of all devices meet? Remembers that so many bytes are to travel. */
bool gs_exchange_buffer_possible(struct gs_command *cmd, uint64_t bytes);

/* Sees to it, before the launch's n parts run, that the next doesn't fail for lack of memory: see gs_scratch_reserve.
 */
cl_int gs_exchange_buffer_reserve(struct gs_command *cmd, unsigned from, uint64_t bytes, unsigned n,
                                  struct gs_events *ready);

/* For what a launch's kernels on one place leave for those on others; at most so many bytes at a time. */
cl_int gs_exchange_buffer_open(struct gs_command *cmd, unsigned from, uint64_t bytes, struct gs_exchange_buffer *m);

/* Memory at m->at that the giving kernel may write after `wait`, which gains the last use of that memory: so many
 * bytes, at most GS_EXCHANGE_BUFFER_MOST_BYTES. More than GS_EXCHANGE_BUFFER_BYTES may go around at m->end. */
cl_int gs_exchange_buffer_take(struct gs_exchange_buffer *m, uint64_t bytes, struct gs_events *wait);
/* The memory is in use until `event`. */
void gs_exchange_buffer_give(struct gs_exchange_buffer *m, cl_event event);
void gs_exchange_buffer_close(struct gs_exchange_buffer *m);

#endif
