/* SPDX-License-Identifier: MIT */
/* Buffers that a merge needs for as long as it runs, kept for the next one: to make and free memory on a GPU takes
 * time, and to free it may wait for the GPU. With the context's lock held.
 *
 * A split launch comes after everything that was enqueued before it (rule 1 of docs/coherence.md), so that the buffers
 * of an earlier one may be used again without looking at its events. */
#ifndef GS_SHIM_OUTPUT_SCRATCH_H
#define GS_SHIM_OUTPUT_SCRATCH_H

#include "shim/transfer/pinned.h"
#include "shim/order/command.h"

/* The end of a context. */
void gs_output_free(struct gs_context *ctx);

/* A buffer of at least so many bytes, for commands on home; the launch has it until it gives all back. Null with an
 * error in *err. With `ready`, before the parts run, so that what puts their outputs together doesn't fail for lack of
 * it: where it is new it is used once, which is when a driver may find that there is none; all n of `ready` gain the
 * end of that. */
cl_mem gs_scratch_take(struct gs_command *cmd, uint64_t bytes, unsigned n, struct gs_events *ready, cl_int *err);

/* What the launch took is free again; it isn't kept where the launch failed, since its commands have no common end. */
void gs_scratch_give(struct gs_context *ctx, bool keep);

#endif
