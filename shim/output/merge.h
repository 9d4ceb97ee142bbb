/* SPDX-License-Identifier: MIT */
/* Outputs whose writers could not be told apart (GPU-SPARC, section III-C): the parts start from equal bytes, a copy of
 * which is kept; afterwards every byte that differs from it was written. With the context's lock held; nothing blocks.
 *
 * Each device keeps a copy, compares with it itself, and packs the blocks in which something differs: these are all
 * that travels, once the host has heard how many they are (shim/output/sparse.h). Or, where little would be spared,
 * what a part holds is brought to the first device whole, and compared there. */
#ifndef GS_SHIM_OUTPUT_MERGE_H
#define GS_SHIM_OUTPUT_MERGE_H

#include "shim/order/command.h"

/* The merge of one root in one launch. */
struct gs_merge {
    struct gs_mem *root;
    struct gs_range window; /* of a buffer */
    uint64_t bytes;         /* of the window, or of the image laid out without gaps */
    bool by_blocks;         /* else whole */
    bool everywhere; /* afterwards every place has the merged bytes, not only the first: where it isn't the root's first
                        merge, so that the next will want equal bytes again. By blocks only */
    cl_mem kept[GS_MAX_DEVICES]; /* the first; by blocks: one on each place. Scratch memory of the launch */
    cl_mem arrived;              /* where the last part's bytes have come to, to be compared at home; likewise */
};

/* What a place holds of the root, as a buffer: itself, or a copy of an image. */
struct gs_holding {
    cl_mem mem;
    uint64_t begin;
    struct gs_events since; /* what it has to be waited for */
};

/* Before the parts run, where all places hold the same bytes: keeps a copy. ready[p] is what that must wait for on
 * place p, and gains the copy: no part may write before it. */
cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready);

/* Once the parts have run (part i on place i, ended at event ran[i]) brings home what they wrote. Adds to `done`. */
cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done);

/* What is valid where after that. -ENOMEM. */
int gs_merge_record(const struct gs_merge *m, unsigned n_parts);

#endif
