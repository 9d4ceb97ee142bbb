/* SPDX-License-Identifier: MIT */
/* Large transfers between the application's pageable memory and a GPU: through a ring of pinned slots that a few
 * threads fill and drain. The driver's own way takes one thread's memcpy (10 GB/s up, 18 down on an H200); the link
 * carries 54. The application's calls carry transfers out themselves: those that block, and others where the commands
 * before have ended, or soon will have. A transfer begins once they have: the holder of the ring waits for the device
 * alone. */
#ifndef GS_SHIM_STAGING_STAGING_H
#define GS_SHIM_STAGING_STAGING_H

#include "shim/order/command.h"
#include "shim/staging/pool.h"
#include "shim/put/op.h"

/* ---- pieces.c: large transfers between memory objects and the host's memory, how they are cut into pieces, and how
 * the pieces of several take turns, so that the links of all devices concerned are busy at once ---- */

/* A read or write of a buffer's bytes or rows, or of an image's texels: between a place and the host's memory. */
struct gs_staged {
    struct gs_op op; /* as the driver is asked for it, without blocking */
    unsigned place;
    size_t element; /* bytes of a texel; 1 of a buffer */
    bool fresh;     /* of a piece: the host's memory is yet to be given pages */
};

/* The same of rows, as the application asks. False: a driver wouldn't take the arguments, or rows are too short. */
bool gs_staged_rect(struct gs_staged *t, const struct gs_op *op);

uint64_t gs_staged_bytes(const struct gs_staged *t);
/* Where the rows are in the host's memory. */
struct gs_rows gs_staged_host(const struct gs_staged *t);

/* Transfers that are carried as one. */
struct gs_extents {
    struct gs_staged *v; /* owned */
    unsigned n;
    size_t cap;
};
cl_int gs_extents_add(struct gs_extents *s, const struct gs_staged *t);
void gs_extents_free(struct gs_extents *s);

/* A transfer, cut into pieces. */
struct gs_cut_transfer {
    const struct gs_staged *t;
    struct gs_cut cut;
    unsigned gone; /* so many pieces have been taken */
    bool fresh;    /* as the pieces' */
};

struct gs_pieces {
    struct gs_cut_transfer *v; /* owned */
    unsigned n, at;            /* at: the one whose turn was last */
    size_t pieces, most_bytes; /* most_bytes: of the largest piece */
};

/* Cuts n transfers, which stay, into pieces of at most `most` bytes; smaller ones if they would be fewer than `many`,
 * but not below `least`. -ENOMEM. */
int gs_pieces_begin(struct gs_pieces *turns, const struct gs_staged *v, unsigned n, size_t most, size_t least,
                    unsigned many);

/* The next piece of all, from each transfer that has some left in turn. To be called turns->pieces times. */
struct gs_staged gs_pieces_take(struct gs_pieces *turns);

/* ---- the ring ---- */

/* May a call carry a transfer of so many bytes through a ring? With the context's lock held. The ring is made once
 * enough bytes have gone the slow way. Not with a user event pending: the call might wait for a later command. */
bool gs_staging_may_carry(struct gs_context *ctx, const void *ptr, uint64_t bytes);
/* For a buffer that is being made. */
bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes);

/* Fills a new buffer on the first device from the host's memory by the calls' ring, to its end. With no lock held. */
cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes);

/* For a call that isn't to block: have these events ended, or soon, so that the slots come free at the link's pace?
 * Then the ring takes less of the caller's time than the driver, which copies pageable memory before it returns (NVIDIA
 * 580.159). Waits for a fraction of what the driver would take, 1.5 ms at most. */
bool gs_staging_is_ready(const struct gs_events *before, uint64_t bytes);
/* The same of all that is in the queue, and further events. */
bool gs_staging_queue_idle(struct gs_queue *q, const struct gs_events *before, uint64_t bytes);

/* The ring serves one transfer at a time. Without the context's lock; false: it is busy, and `wait` is false. */
bool gs_staging_enter(struct gs_context *ctx, bool wait);
void gs_staging_leave(struct gs_context *ctx);

/* What a carried transfer consisted of, as far as its times go: on each place the first piece and the last. */
struct gs_staged_ends {
    struct gs_events events;
    unsigned place[2 * GS_MAX_DEVICES];
};

/* Another piece, the last of its place so far. Takes the event over. */
cl_int gs_staged_note(struct gs_staged_ends *ended, unsigned place, cl_event event);

/* Carries n transfers out as one, their pieces in turn, by the ring, which the caller has entered, in queues of the
 * ring's own; all earlier commands have ended. All of them read, or all write. Returns once the host's memory may be
 * used again: a read has ended then, and with `waits` a write has. With `timed` its events have profiles: on an H200 a
 * piece of 1 MiB takes 12 us more so. */
cl_int gs_staging_carry(struct gs_context *ctx, const struct gs_staged *v, unsigned n, bool timed, bool waits,
                        struct gs_staged_ends *ended);

/* Frees this room's part of a context. Null is allowed. */
void gs_staging_free(struct gs_staging *s);

/* ---- pinned memory: memory of the host's that GPUs read and write at their link's pace: ours, which the driver has
 * pinned for a buffer around it. Nothing ever stands in that buffer. For other devices any memory does. ---- */

enum { GS_PINNED_BUFFERS = 5 };
struct gs_pinned_memory {
    char *base;                       /* null: there is none */
    cl_mem buffer[GS_PINNED_BUFFERS]; /* n, one behind the other; or none */
    unsigned n;
    size_t bytes; /* pinned so far */
    void *map;
    size_t map_bytes;
};

/* Of `most` bytes the first `bytes`. shown: the application sees this memory, so a child process gets it too. On an
 * error there is nothing to free. Blocks for as long as pinning takes: 3.4 ms of 64 MiB on an H200's host. */
cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, size_t most,
                             bool shown);
/* So many more, GS_PINNED_BUFFERS - 1 times at most. On an error what there was stays. */
cl_int gs_pinned_memory_add(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes);

/* No command may be under way on this memory. */
void gs_pinned_memory_free(struct gs_pinned_memory *m);

/* ---- way.c: by which way bytes go between the host's memory and the devices. Pure ---- */

enum gs_host_fact {
    GS_FACT_WRITES = 1 << 0, /* the command changes bytes of a device */
    GS_FACT_BLOCKS = 1 << 1, /* the application's call returns once the bytes have arrived */
    GS_FACT_UNITS = 1 << 2,  /* commands go by the daemon's units */
    GS_FACT_AWAY = 1 << 3,   /* some bytes lie elsewhere than at home, or have yet to arrive there */
    GS_FACT_FEW = 1 << 4,    /* the bytes lie in few stretches, and no user event is open */
    GS_FACT_RING = 1 << 5,   /* the call may carry the bytes through the ring of pinned memory */
    GS_FACTS = 6
};

enum gs_host_way {
    GS_BY_RING,  /* the call itself, through pinned memory */
    GS_BY_CALL,  /* the application's call, handed to the driver without the context's lock */
    GS_BY_CALLS, /* a call of the driver that blocks for each stretch, without the context's lock */
    GS_BY_QUEUE  /* non-blocking commands, one for each stretch; under a daemon in units */
};

enum gs_host_way gs_host_way(unsigned facts);

/* ---- ring.c: a ring of equal slots for transfers, with the events after which each slot is free again. Who takes a
 * slot waits for its last use in the device's queues, never on the host: an earlier transfer never waits for a later
 * one ---- */

enum { GS_RING_SLOTS = 16 };

struct gs_ring {
    struct gs_events use[GS_RING_SLOTS]; /* the ends of each slot's last use, by one or by several at once */
    /* Earlier uses, the oldest first, until that has ended: a use may fail before the commands in its wait list. */
    struct gs_events earlier[GS_RING_SLOTS];
    unsigned next;
};

/* The next of the ring's n slots. `wait`, which has what the transfer itself waits for, gains the slot's last use. */
cl_int gs_ring_take(struct gs_ring *r, unsigned n, unsigned *slot, struct gs_events *wait);
/* The slot is in use until `event`, which is retained; and until this one as well. */
void gs_ring_give(struct gs_ring *r, unsigned slot, cl_event event);
void gs_ring_add(struct gs_ring *r, unsigned slot, cl_event event);
/* No use is under way. */
bool gs_ring_is_idle(const struct gs_ring *r);
void gs_ring_free(struct gs_ring *r);

#endif
