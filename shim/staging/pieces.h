/* SPDX-License-Identifier: MIT */
/* Large transfers between memory objects and the host's memory, how they are cut into pieces, and how the pieces of
 * several take turns, so that the links of all devices concerned are busy at once. */
#ifndef GS_SHIM_STAGING_PIECES_H
#define GS_SHIM_STAGING_PIECES_H

#include "shim/order/command.h"
#include "shim/staging/pool.h"
#include "shim/put/cut.h"

/* A transfer of region[2] slices of region[1] rows between a memory object and the host's memory. */
struct gs_staged {
    cl_mem mem;
    unsigned place;
    bool image, write;             /* write: the host's bytes are only read */
    size_t element;                /* bytes of a texel; 1 of a buffer */
    size_t origin[3], region[3];   /* as the driver takes them: [0] in texels or bytes */
    size_t row_pitch, slice_pitch; /* of a buffer */
    struct gs_rows host;
};

/* A run of bytes. */
struct gs_staged gs_staged_run(cl_mem mem, unsigned place, bool write, uint64_t offset, uint64_t bytes, void *ptr);
uint64_t gs_staged_bytes(const struct gs_staged *t);

/* As the driver is asked for it: with `slot`, between the device and that memory, where the bytes lie without gaps. */
struct gs_op gs_staged_op(const struct gs_staged *t, char *slot);
/* Enqueues it. */
cl_int gs_staged_enqueue(const struct gs_staged *t, cl_command_queue queue, char *slot, cl_uint n_wait,
                         const cl_event *wait, cl_event *event);

/* A transfer, cut into pieces. */
struct gs_cut_transfer {
    const struct gs_staged *t;
    struct gs_cut cut;
    unsigned gone; /* so many pieces have been taken */
    bool fresh;    /* the host's memory is yet to be given pages */
};

/* What is left of the transfers of one place: they come one after the other. */
struct gs_lane {
    unsigned place, at; /* at: the first transfer of it that isn't gone */
    size_t pieces, gone;
};

struct gs_turns {
    struct gs_cut_transfer *v; /* owned */
    unsigned n, lanes;
    size_t pieces, most_bytes; /* most_bytes: of the largest piece */
    struct gs_lane lane[GS_MAX_DEVICES];
};

/* One piece. */
struct gs_piece {
    struct gs_staged t;
    bool fresh;
    bool first, last; /* of its place */
};

/* Cuts n transfers, which stay, into pieces of at most `most` bytes; smaller ones if they would be fewer than `many`,
 * but not below `least`. -ENOMEM. */
int gs_turns_begin(struct gs_turns *turns, const struct gs_staged *v, unsigned n, size_t most, size_t least,
                   unsigned many);
void gs_turns_end(struct gs_turns *turns);

/* The next piece of all: each place's are spread evenly over the whole, so that all places are done together. To be
 * called turns->pieces times. */
struct gs_piece gs_turns_take(struct gs_turns *turns);

#endif
