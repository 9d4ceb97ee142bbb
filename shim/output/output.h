/* SPDX-License-Identifier: MIT */
/* Makes the parts' writes one memory, in one of two ways. With the context's lock held; nothing blocks.
 *
 * Merge: for outputs whose writers can't be told apart (GPU-SPARC, section III-C). Parts start from equal bytes, of
 * which home keeps a copy. Afterwards each part's bytes come home, and every byte that differs from the copy was
 * written by that part.
 *
 * Reduction: for bytes that only atomics of one operation touch, with unused results (GS_REDUCED). The first part works
 * on home's values; every other on a copy filled with the operation's neutral element (0, all ones, the greatest or the
 * least value), so that no old value has to be sent or kept. Then the copies are combined with home's. */
#ifndef GS_SHIM_OUTPUT_OUTPUT_H
#define GS_SHIM_OUTPUT_OUTPUT_H

#include "shim/plan/plan.h"
#include "shim/put/put.h"

/* Before the parts run, after gs_require_all, when all places hold the same bytes of what is merged: makes the copies,
 * and takes memory for later. ready[p]: the events that part p waits for; gains the ends of copies. */
cl_int gs_outputs_begin(struct gs_command *cmd, const struct gs_plan *plan, struct gs_events *ready);

/* After the parts (part i on place i, with event ran[i]): joins at home what they wrote. cmd->ended gains events. */
cl_int gs_outputs_join(struct gs_command *cmd, const struct gs_plan *plan, const cl_event *ran);

/* The launch's memory is free again. !keep: the launch failed, its commands have no common end; releases buffers. */
void gs_scratch_give(struct gs_context *ctx, bool keep);

/* The end of a context. */
void gs_scratch_free(struct gs_context *ctx);

#endif
