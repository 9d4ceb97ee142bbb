/* SPDX-License-Identifier: MIT */
/* A command that moves bytes or texels, and the pieces that it may be cut into. With no state; nothing blocks. */
#ifndef GS_SHIM_SCHEDULE_OP_H
#define GS_SHIM_SCHEDULE_OP_H

#include "shim/schedule/cut.h"
#include "shim/record/real.h"

enum gs_op_kind {
    GS_OP_READ,
    GS_OP_WRITE,
    GS_OP_COPY,
    GS_OP_FILL,
    GS_OP_READ_RECT,
    GS_OP_WRITE_RECT,
    GS_OP_COPY_RECT,
    GS_OP_READ_IMAGE,
    GS_OP_WRITE_IMAGE,
    GS_OP_COPY_IMAGE,
    GS_OP_FILL_IMAGE,
    GS_OP_IMAGE_TO_BUFFER,
    GS_OP_BUFFER_TO_IMAGE
};

enum { GS_OP_PATTERN_BYTES = 128 }; /* of the largest vector of doubles */

struct gs_op {
    enum gs_op_kind kind;
    cl_mem src, dst; /* of a read, a write or a fill one of them is null */
    /* Where it begins: an offset in [0], or three coordinates; of a rectangle in the host's memory too. */
    size_t from[3], to[3];
    size_t region[3]; /* bytes, or texels, in a row; rows; slices. What isn't a region has 1 of the latter */
    /* Rows and slices as the driver is given them, 0 as well: of a rectangle in src and in dst, of the host's memory of
     * an image in either. */
    size_t from_pitch[2], to_pitch[2];
    void *ptr; /* the host's memory; of a write it is only read */
    unsigned char pattern[GS_OP_PATTERN_BYTES];
    size_t pattern_bytes;
    bool whole; /* not to be cut */
};

/* Does it move bytes between the host's memory and a device? */
bool gs_op_is_by_host(const struct gs_op *op);

/* Is an image concerned? */
bool gs_op_is_of_image(const struct gs_op *op);

/* Cuts it into pieces of at most `chunk` bytes, or leaves it whole: with 0; where the driver would refuse it, which
 * then sees all of it; and where source and destination are one. */
void gs_op_cut(const struct gs_op *op, uint64_t chunk, struct gs_cut *cut);

/* Enqueues one piece of it. */
cl_int gs_op_enqueue(const struct gs_op *op, const struct gs_cut *cut, unsigned piece, cl_command_queue queue,
                     cl_uint n_wait, const cl_event *wait, cl_event *event);

#endif
