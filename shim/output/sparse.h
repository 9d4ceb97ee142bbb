/* SPDX-License-Identifier: MIT */
/* A merge by blocks: each place packs the blocks in which it differs from its kept copy and tells the host how many
 * they are; then a thread of ours sends so many through the host, and the takers unpack them. Where too many differ,
 * what a place holds goes whole. The application's commands wait for an event that the thread completes; its calls
 * never do. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_SPARSE_H
#define GS_SHIM_OUTPUT_SPARSE_H

#include "shim/output/merge.h"

/* Is it to be tried for so many bytes of the root? Not for few, which are there sooner than the host has heard how many
 * have changed; nor where the last merges' changes were dense. */
bool gs_sparse_worth(struct gs_mem *root, uint64_t bytes);

/* Before the parts run, what gs_sparse_merge isn't refused without: see gs_scratch_reserve. */
cl_int gs_sparse_reserve(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_events *ready);

/* on[p] is what place p holds after its part, and then what it holds after the merge: the first; with m->everywhere,
 * all, and the same bytes. False: it can't be had, and nothing has been changed. */
bool gs_sparse_merge(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, struct gs_holding *on);

#endif
