/* SPDX-License-Identifier: MIT */
/* A merge by blocks: each place compares what it holds with its kept copy and leaves the blocks that differ where the
 * others' kernels reach them; the first place, or all, pick them up. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_BLOCKS_H
#define GS_SHIM_OUTPUT_BLOCKS_H

#include "shim/output/merge.h"

/* What a place holds of the root, as a buffer: itself, or a copy of an image. */
struct gs_holding {
    cl_mem mem;
    uint64_t begin;
    struct gs_events since; /* what it has to be waited for */
};

/* Before the parts run: see gs_scratch_reserve. */
cl_int gs_blocks_reserve(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_events *ready);

/* on[p] is what place p holds after its part, and then what it holds after the merge: the first; with m->everywhere,
 * all, and the same bytes. */
cl_int gs_blocks_merge(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, struct gs_holding *on);

#endif
