/* SPDX-License-Identifier: MIT */
/* How operations are cut into pieces, and launches into chunks. No state; nothing blocks. */
#ifndef GS_SHIM_PUT_CUT_H
#define GS_SHIM_PUT_CUT_H

#include "shim/driver/enqueue.h"
#include "translator/summary/summary.h"

/* ---- boxes: a box of work-groups is cut into chunks, each a box again. Pure ---- */

struct gs_cut {
    struct gs_box whole;
    unsigned dim; /* cut into pieces of `step`; lower dimensions stay whole, and in higher ones a chunk is 1 wide */
    uint64_t step;
    uint64_t count[3]; /* chunks per dimension */
    unsigned n;        /* chunks */
};

/* In a launch without a local size so many work-items count as a work-group. */
enum { GS_ITEMS_OF_GROUP = 64 };

/* Cuts a box into chunks of at most `most` work-groups (0: not at all), in whole rows as far as these fit. `items`: the
 * box is in work-items, and the chunks' local size is chosen later, so steps are multiples of a size that leaves a good
 * choice. A box whose chunks don't fit an unsigned stays whole. */
void gs_cut_make(struct gs_cut *cut, const struct gs_box *box, uint64_t most, bool items);

/* Chunk i. */
void gs_cut_box(const struct gs_cut *cut, unsigned i, struct gs_box *box);

/* ---- operations ---- */

/* A launch's work-items and work-groups. Global sizes must be there. */
struct gs_geometry gs_op_geometry(const struct gs_op *launch);

/* Cuts an operation into pieces of at most `chunk` bytes. The operation stays whole if chunk is 0, if source and
 * destination overlap or (but for a copy of bytes) are one object, or if the driver would refuse the whole. */
void gs_op_cut(const struct gs_op *op, uint64_t chunk, struct gs_cut *cut);

/* An operation that moves bytes or texels on a place, cut into pieces. */
struct gs_op_run {
    struct gs_op op; /* non-blocking; of an image with its texel */
    struct gs_cut cut;
    unsigned place;
    /* Through the ring of pinned memory (shim/staging): */
    unsigned gone; /* so many pieces have been taken */
    bool fresh;    /* the host's memory may have no pages yet */
};

/* One piece of an operation, and the part in a box of its region: transfers themselves. */
struct gs_op gs_op_piece(const struct gs_op *op, const struct gs_cut *cut, unsigned piece);
struct gs_op gs_op_part(const struct gs_op *op, const struct gs_box *box);

/* Memory in which a piece's rows lie without gaps: the host's, or a buffer from byte `at` on. */
struct gs_slot {
    char *ptr; /* null: mem */
    cl_mem mem;
    size_t at;
};

/* Puts a slot in place of the transfer's source (`arrives`) or its target. */
void gs_op_by_slot(struct gs_op *op, bool arrives, const struct gs_slot *slot);

/* Replaces a rectangle's pitches of 0 by the values meant. False: the driver would refuse the rectangle. */
bool gs_op_find_pitches(struct gs_op *op);

#endif
