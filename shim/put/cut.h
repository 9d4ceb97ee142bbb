/* SPDX-License-Identifier: MIT */
/* Cuts a box of work-groups into chunks of at most so many, each a box again. Pure. */
#ifndef GS_SHIM_PUT_CUT_H
#define GS_SHIM_PUT_CUT_H

#include "translator/summary/summary.h"

struct gs_cut {
    struct gs_box whole;
    unsigned dim; /* the dimension that is cut into pieces of `step`; those below stay whole, above it is 1 */
    uint64_t step;
    uint64_t count[3]; /* chunks per dimension */
    unsigned n;        /* chunks */
};

/* In chunks of at most `most` work-groups (at least one), whole rows of them as far as they fit. Where `items` is set
 * the box is in work-items, and whoever runs a chunk chooses the local size: steps are then multiples of a size that
 * leaves a good choice. A box of more chunks than fit an unsigned is left whole. */
void gs_cut_make(struct gs_cut *cut, const struct gs_box *box, uint64_t most, bool items);

/* Chunk i. */
void gs_cut_box(const struct gs_cut *cut, unsigned i, struct gs_box *box);

#endif
