/* SPDX-License-Identifier: MIT */
/* The pieces that a transfer may be cut into. With no state; nothing blocks. */
#ifndef GS_SHIM_PUT_OP_H
#define GS_SHIM_PUT_OP_H

#include "shim/put/cut.h"
#include "shim/driver/enqueue.h"

/* Cuts it into pieces of at most `chunk` bytes, or leaves it whole: with 0; where the driver would refuse it, which
 * then sees all of it; and where source and destination are one. */
void gs_op_cut(const struct gs_op *op, uint64_t chunk, struct gs_cut *cut);

/* One piece of it, which is a transfer as well; and what of it lies in a box of its region. */
struct gs_op gs_op_piece(const struct gs_op *op, const struct gs_cut *cut, unsigned piece);
struct gs_op gs_op_part(const struct gs_op *op, const struct gs_box *box);

/* Of a rectangle: puts in the place of pitches of 0 what they stand for. False: the driver would refuse it. */
bool gs_op_find_pitches(struct gs_op *op);

#endif
