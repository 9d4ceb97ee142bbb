/* SPDX-License-Identifier: MIT */
/* In which order the pieces of several sends are enqueued, so that all links carry bytes at the same time: a device
 * takes from one device while it sends to another, and not all read the same device at once. Pure. */
#ifndef GS_SHIM_TRANSFER_ROUNDS_H
#define GS_SHIM_TRANSFER_ROUNDS_H

#include "shim/staging/staging.h"

/* A place that gets the bytes sent. */
struct gs_target {
    unsigned place;
    int part; /* of a split launch, for which the bytes come; -1: for none */
    cl_mem mem;
    struct gs_events *done; /* gains the end */
    cl_event arrived;       /* the end of the last piece that was enqueued, or null; owned */
};

/* The same bytes from one place to others. */
struct gs_send {
    unsigned from;
    cl_mem mem;
    struct gs_rect rect;
    uint64_t to_begin; /* where they begin at the targets */
    /* Of an image, whose texels have no gaps: a piece is rows of one slice, or texels of a line of `row_bytes`. */
    const struct gs_mem *image;
    uint64_t row_bytes, slice_bytes;
    uint64_t at;           /* so many bytes of it are on their way, in pieces */
    struct gs_events wait; /* what they must come after */
    unsigned n;
    struct gs_target to[GS_MAX_DEVICES];
};

/* A growing list of them. */
struct gs_sends {
    struct gs_send *v;
    size_t n, cap;
};

/* Adds one to one target. -ENOMEM. */
int gs_sends_add(struct gs_sends *sends, const struct gs_send *send);
/* Sorts the sends by their source, and joins sends of the same bytes from the same place. */
void gs_sends_join(struct gs_sends *sends);
/* With their events (sends.c). */
void gs_sends_free(struct gs_sends *sends);

/* A piece of it on its way. */
struct gs_flight {
    struct gs_send *send;
    struct gs_rect rect; /* some rows, or some bytes of one */
    bool last;
    unsigned slot;  /* it goes through this one */
    unsigned taken; /* by how many it has been enqueued from there */
    cl_event left;  /* its way into the slot; owned */
};

/* A ring's slots are enough for a round: of each place's own, GS_ROUND_SENDS at the least, or of one for all. */
enum { GS_ROUND_PIECES = GS_RING_SLOTS, GS_ROUND_SENDS = 4 };

struct gs_rounds {
    uint64_t piece_bytes;
    unsigned n, each; /* of so many places, so many sends at a time */
    struct {
        struct gs_send *next, *end; /* not begun yet */
        struct gs_send *now[GS_ROUND_SENDS];
    } of[GS_MAX_DEVICES];
};

/* Of sends that have been joined. A round has no more pieces than slots, of which there is one for each source at
 * least, and GS_ROUND_PIECES at most. */
void gs_rounds_begin(struct gs_rounds *r, struct gs_sends *sends, uint64_t piece_bytes, unsigned slots);

/* The next round: a piece of each send under way; all leave before any is taken. The number of pieces; 0: no more. */
unsigned gs_rounds_next(struct gs_rounds *r, struct gs_flight flights[GS_ROUND_PIECES]);

/* Pieces are taken in steps, 1 to n - 1 for n places: in each a place takes from one other, and gives to one. */
static inline unsigned gs_round_step(unsigned from, unsigned to, unsigned n)
{
    return (from + n - to) % n;
}

#endif
