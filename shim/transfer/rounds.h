/* SPDX-License-Identifier: MIT */
/* The order in which pieces of several sends are enqueued so that all links are busy: a device receives from one device
 * while it sends to another, and no device is read by all others at once. Pure. */
#ifndef GS_SHIM_TRANSFER_ROUNDS_H
#define GS_SHIM_TRANSFER_ROUNDS_H

#include "common/rects.h"
#include "shim/staging/staging.h"

/* A place that gets a send's bytes. */
struct gs_target {
    unsigned place;
    int part; /* the part of a split launch that needs the bytes; -1: none */
    cl_mem mem;
    uint64_t begin;         /* of `mem`, in the root */
    struct gs_events *done; /* gains the event of the transfer's end */
    cl_event arrived;       /* the end of the last piece that was enqueued, or null; owned */
};

/* A range of bytes that travels from one place to others. */
struct gs_send {
    unsigned from;
    struct gs_rect rect;
    struct gs_op op; /* a copy; dst is the target's mem, and to[0] the first byte in the root */
    uint64_t begin;  /* of op.src, in the root */
    struct gs_cut cut;
    unsigned gone;         /* so many of the cut's pieces are on their way already */
    struct gs_events wait; /* events that all pieces must come after */
    struct gs_send *with;  /* a send that goes packed with this one, and with it the next; or null */
    unsigned n;
    struct gs_target to[GS_MAX_DEVICES];
};

/* A growing list of sends. */
struct gs_sends {
    struct gs_send *v;
    size_t n, cap;
};

/* Adds a send with one target. -ENOMEM. */
int gs_sends_add(struct gs_sends *sends, const struct gs_send *send);
/* Sorts the sends by their source, and joins sends of the same bytes from the same place. */
void gs_sends_join(struct gs_sends *sends);
/* Frees the list with its events (sends.c). */
void gs_sends_free(struct gs_sends *sends);

/* A piece on its way through a slot. */
struct gs_flight {
    struct gs_send *send;
    unsigned piece; /* of the send's cut */
    bool last;
    unsigned slot;  /* its slot */
    unsigned taken; /* so many targets' copies from the slot are enqueued */
    cl_event left;  /* the end of the copy into the slot; owned */
};

/* Slots enough for a round: of windows each place's own slots hold GS_ROUND_SENDS pieces, and one ring holds all. */
enum { GS_ROUND_PIECES = GS_RING_SLOTS, GS_ROUND_SENDS = 4 };

struct gs_rounds {
    unsigned n, each; /* n places, each with so many sends under way at a time */
    struct {
        struct gs_send *next, *end; /* not all of their pieces have been given */
    } of[GS_MAX_DEVICES];
};

/* Begins with joined sends, which it cuts. A round has at most `slots` pieces, one for each source or more. */
void gs_rounds_begin(struct gs_rounds *r, struct gs_sends *sends, uint64_t piece_bytes, unsigned slots);

/* The next round: one piece of each send under way. All pieces of a round leave before any is taken. Returns the number
 * of pieces; 0: all have been given. */
unsigned gs_rounds_next(struct gs_rounds *r, struct gs_flight flights[GS_ROUND_PIECES]);

/* Pieces go in steps 1 to n - 1 for n places (0: a copy in one): in each a place takes from one and gives to one. */
static inline unsigned gs_round_step(unsigned from, unsigned to, unsigned n)
{
    return (from + n - to) % n;
}

#endif
