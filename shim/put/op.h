/* SPDX-License-Identifier: MIT */
/* The pieces that a transfer may be cut into. With no state; nothing blocks. */
#ifndef GS_SHIM_PUT_OP_H
#define GS_SHIM_PUT_OP_H

#include "shim/driver/enqueue.h"
#include "translator/summary/summary.h"

/* ---- boxes: cuts a box of work-groups into chunks of at most so many, each a box again. Pure ---- */

struct gs_cut {
    struct gs_box whole;
    unsigned dim; /* the dimension that is cut into pieces of `step`; those below stay whole, above it is 1 */
    uint64_t step;
    uint64_t count[3]; /* chunks per dimension */
    unsigned n;        /* chunks */
};

/* Of a launch without a local size, so many work-items count as a work-group. */
enum { GS_ITEMS_OF_GROUP = 64 };

/* In chunks of at most `most` work-groups (at least one), whole rows of them as far as they fit. Where `items` is set
 * the box is in work-items, and whoever runs a chunk chooses the local size: steps are then multiples of a size that
 * leaves a good choice. A box of more chunks than fit an unsigned is left whole. */
void gs_cut_make(struct gs_cut *cut, const struct gs_box *box, uint64_t most, bool items);

/* Chunk i. */
void gs_cut_box(const struct gs_cut *cut, unsigned i, struct gs_box *box);

/* ---- operations ---- */

/* Cuts it into pieces of at most `chunk` bytes, or leaves it whole: with 0; where the driver would refuse it, which
 * then sees all of it; and where source and destination are one. */
void gs_op_cut(const struct gs_op *op, uint64_t chunk, struct gs_cut *cut);

/* One piece of it, which is a transfer as well; and what of it lies in a box of its region. */
struct gs_op gs_op_piece(const struct gs_op *op, const struct gs_cut *cut, unsigned piece);
struct gs_op gs_op_part(const struct gs_op *op, const struct gs_box *box);

/* Of a rectangle: puts in the place of pitches of 0 what they stand for. False: the driver would refuse it. */
bool gs_op_find_pitches(struct gs_op *op);

#endif
