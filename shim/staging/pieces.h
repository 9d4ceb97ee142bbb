/* SPDX-License-Identifier: MIT */
/* Large transfers between memory objects and the host's memory, how they are cut into pieces, and how the pieces of
 * several take turns, so that the links of all devices concerned are busy at once. */
#ifndef GS_SHIM_STAGING_PIECES_H
#define GS_SHIM_STAGING_PIECES_H

#include "shim/order/command.h"
#include "shim/staging/pool.h"
#include "shim/put/op.h"

/* A read or write of a buffer's bytes or rows, or of an image's texels: between a place and the host's memory. */
struct gs_staged {
    struct gs_op op; /* as the driver is asked for it, without blocking */
    unsigned place;
    size_t element; /* bytes of a texel; 1 of a buffer */
    bool fresh;     /* of a piece: the host's memory is yet to be given pages */
};

/* The same of rows, as the application asks for it. False: the arguments are none that a driver takes, or the rows are
 * too short. */
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

#endif
