/* SPDX-License-Identifier: MIT */
/* Large transfers between the application's pageable memory and a GPU, through a ring of pinned slots that a few
 * threads fill and drain. The driver's own way is one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries 54. The application's call carries the transfer, if it blocks, or if all commands before have ended or soon
 * will. The transfer begins after that, so whoever holds the ring waits for the device alone. */
#ifndef GS_SHIM_STAGING_STAGING_H
#define GS_SHIM_STAGING_STAGING_H

#include "shim/order/command.h"
#include "shim/staging/pool.h"
#include "shim/put/cut.h"

/* ---- pieces.c: cuts transfers into pieces; pieces of several transfers take turns, so that all links are busy ---- */

/* The bytes of one element of its region. */
static inline size_t gs_op_element(const struct gs_op *op)
{
    return gs_op_is_of_image(op) ? op->texel : 1;
}

/* Makes an operation of the application's rectangle. Rows without gaps on both sides become one row. False: the driver
 * would refuse the arguments, or rows are too short to gain. */
bool gs_staged_rect(struct gs_op_run *t, const struct gs_op *op);

uint64_t gs_staged_bytes(const struct gs_op_run *t);
/* The rows' places in the host's memory. */
struct gs_rows gs_staged_host(const struct gs_op_run *t);

/* Transfers that are carried as one. */
struct gs_extents {
    struct gs_op_run *v; /* owned */
    unsigned n;
    size_t cap;
};
cl_int gs_extents_add(struct gs_extents *s, const struct gs_op_run *t);
void gs_extents_free(struct gs_extents *s);

struct gs_pieces {
    struct gs_op_run *v;
    unsigned n, at;            /* at: whose turn was last */
    size_t pieces, most_bytes; /* of all transfers: pieces, and bytes of the largest */
};

/* Cuts n transfers, which must outlive *turns, into pieces of at most `most` bytes. Small transfers go in smaller
 * pieces, so that filling and sending overlap, and each link has enough under way. */
void gs_pieces_begin(struct gs_pieces *turns, struct gs_op_run *v, unsigned n, size_t most);

/* The next piece, from each transfer in turn. Call it turns->pieces times and no more. */
struct gs_op_run gs_pieces_take(struct gs_pieces *turns);

/* ---- the ring ---- */

/* May a call carry a transfer of so many bytes through the ring? The first large transfers go without, until they pay
 * for making a ring. Not while a user event is open: the call might wait for a later command. The lock is held. */
bool gs_staging_may_carry(struct gs_context *ctx, const void *ptr, uint64_t bytes);
/* The same for filling a new buffer, which no user event can hold up. */
bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes);

/* Fills a new buffer on the first device from the host's memory, and waits for the end. With no lock held. */
cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes);

/* For a call that needn't block: have all events ended, or will soon, so that slots come free at the link's pace? Then
 * the ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA
 * 580.159). Waits a fraction of the driver's time, 1.5 ms at most. */
bool gs_staging_is_ready(const struct gs_events *before, uint64_t bytes);
/* gs_staging_is_ready for everything in the queue, and further events. */
bool gs_staging_queue_idle(struct gs_queue *q, const struct gs_events *before, uint64_t bytes);

/* Takes the ring, which serves one transfer at a time. False: busy (and !wait). Without the context's lock. */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* Notes a piece, the last of its place so far, for a carried transfer's times: of each place cmd->ended has the first
 * and the last. Takes the event over. */
cl_int gs_staged_note(struct gs_command *cmd, unsigned place, cl_event event);

/* Carries n transfers, all reads or all writes, piece by piece in turn, in the ring's own queues. The caller has
 * entered the ring, and all earlier commands have ended. Returns when the host's memory may be used again: reads have
 * ended then, and writes as well unless they are a command's, which gets their ends, with profiles if its queue has
 * some (they cost 12 us for a piece of 1 MiB on an H200). `cmd` may be null. */
cl_int gs_staging_carry(struct gs_context *ctx, struct gs_op_run *v, unsigned n, struct gs_command *cmd);

/* Frees this room's part of a context. Null is allowed. */
void gs_staging_free(struct gs_staging *s);

/* ---- pinned memory: our memory that the driver has pinned for a buffer around it, so that GPUs read and write at
 * their link's pace. The buffer itself is never used. Other devices need no pinning ---- */

enum { GS_PINNED_BUFFERS = 5 };
struct gs_pinned_memory {
    char *base;                       /* null: there is none */
    cl_mem buffer[GS_PINNED_BUFFERS]; /* n buffers, one behind the other in `map`; n is 0 for devices that need none */
    unsigned n;
    size_t bytes; /* pinned so far */
    void *map;
    size_t map_bytes;
};

/* Reserves `most` bytes and pins the first `bytes`. shown: the application sees the memory, so child processes must
 * have it. After an error there is nothing to free. Blocks while pinning: 3.4 ms for 64 MiB on an H200's host. */
cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, size_t most,
                             bool shown);
/* Pins so many bytes more, GS_PINNED_BUFFERS - 1 times at most. After an error the memory pinned before stays. */
cl_int gs_pinned_memory_add(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes);

/* No command may be under way on this memory. */
void gs_pinned_memory_free(struct gs_pinned_memory *m);

/* ---- way.c: a table from facts to the way of bytes between the host's memory and the devices. Pure ----
 *
 * Words for the way of bytes: the transfer path is the user's setting (enum gs_transfer_path); the host way is chosen
 * for each call, here; a passage is the memory between two places (gs_passage); `via` is what put is told, for units
 * (enum gs_via); a path is what --stats counts (enum gs_path); the label way is for the trace (enum gs_label_way). */

enum gs_host_fact {
    GS_FACT_WRITES = 1 << 0, /* the command changes bytes of a device */
    GS_FACT_BLOCKS = 1 << 1, /* the application's call returns once the bytes have arrived */
    GS_FACT_UNITS = 1 << 2,  /* commands go by the daemon's units */
    GS_FACT_AWAY = 1 << 3,   /* some bytes lie elsewhere than at home, or have yet to arrive there */
    GS_FACT_FEW = 1 << 4,    /* the bytes lie in few extents, each of which a call may read: may_call_each, reads.c */
    GS_FACT_RING = 1 << 5,   /* the call may carry the bytes through the ring of pinned memory */
    GS_FACT_FOUND = 1 << 6,  /* the context is locked, and it is known where the bytes lie */
    /* Only before: */
    GS_FACT_DIRECT = 1 << 7, /* few bytes, or a kind of command that the ring doesn't carry */
    GS_FACT_NEW = 1 << 8,    /* the command may define bytes for the first time, which must be noted */
    GS_FACT_SOLE = 1 << 9,   /* few bytes of a sole application under a daemon */
    GS_FACTS = 10
};

enum gs_host_way {
    GS_AS_IT_IS, /* to the driver as the application made it, if all bytes have always been at home; else ask again */
    GS_AT_ONCE,  /* so too under a daemon, without waiting for a unit */
    GS_LOOK,     /* lock the context, find where the bytes lie, and ask again */
    GS_BY_RING,  /* the call itself carries the bytes through pinned memory */
    GS_BY_CALL,  /* the application's call goes to the driver, without the context's lock */
    GS_BY_CALLS, /* a blocking call of the driver for each extent, without the context's lock */
    GS_BY_QUEUE, /* non-blocking commands, one for each extent; under a daemon in units */
    GS_HOST_WAYS
};

enum gs_host_way gs_host_way(unsigned facts);

/* ---- ring.c: equal slots, with the events after which each slot is free again. Whoever takes a slot lets the device's
 * queue wait for these, or waits itself; never for a later transfer ---- */

/* With pieces of 2 MiB, which take the host too long to enqueue, two H200s exchange 44 GB/s; with 4 MiB 74. */
enum { GS_RING_SLOTS = 16, GS_SLOT_BYTES = 4 * 1024 * 1024, GS_SMALL_SLOT_BYTES = 128 * 1024 };

struct gs_ring {
    size_t slot_bytes;
    unsigned slots, most;           /* there are, and may be: fewer than GS_RING_SLOTS once there was no more memory */
    unsigned next;                  /* slot that gs_ring_take takes */
    struct gs_pinned_memory memory; /* of all slots; none where they lie in windows */
    struct gs_events use[GS_RING_SLOTS]; /* the ends of each slot's last use, of one or several targets */
    /* Ends of earlier uses, oldest first: a use may fail before the commands in its wait list have ended. */
    struct gs_events earlier[GS_RING_SLOTS];
};

/* Adds slots of pinned memory, so that there are so many; these are used next. Blocks (gs_pinned_memory_make). */
cl_int gs_ring_add_slots(struct gs_ring *r, const struct gs_context *ctx, unsigned slots);

static inline char *gs_ring_memory(const struct gs_ring *r, unsigned slot)
{
    return r->memory.base + slot * r->slot_bytes;
}

/* Takes the next slot. `wait`, the transfer's own events, gains the ends of the slot's last use. */
cl_int gs_ring_take(struct gs_ring *r, unsigned *slot, struct gs_events *wait);
/* gs_ring_give: the slot is in use until `event`. gs_ring_add: until this event as well. Both retain the event. */
void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event);
void gs_ring_add(struct gs_ring *r, unsigned slot, cl_event event);
/* Has every use ended? */
bool gs_ring_is_idle(const struct gs_ring *r);
/* Memory that is still in use goes with the process. */
void gs_ring_free(struct gs_ring *r);

#endif
