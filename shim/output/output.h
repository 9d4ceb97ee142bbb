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

/* The scratch memory for the merge, or reduction, of one use in one launch. */
struct gs_merge {
    cl_mem kept;                    /* at home, ... */
    cl_mem arrived[GS_MAX_DEVICES]; /* ... and for the bytes that come from each part */
};

/* Before the parts run, when all places hold the same bytes: makes home's copy. ready[p]: the events that the part on
 * place p waits for; ready[0] gains the copy's end. */
cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                     struct gs_events *ready);

/* After the parts (part i on place i, with event ran[i]): brings their writes home. `done` gains the events. */
cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                      const cl_event *ran, struct gs_events *done);

/* Before the parts run, after gs_require_all: fills the copies, and takes memory for later. ready[p]: the events that
 * the copy waits for, and part p; gains the copy's end. From here on only home's bytes are valid. */
cl_int gs_reduce_begin(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       struct gs_events *ready);

/* After the parts (part i on place i, with event ran[i]): combines the copies at home. `done` gains the events. */
cl_int gs_reduce_parts(struct gs_command *cmd, const struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       const cl_event *ran, struct gs_events *done);

/* ---- kernels that put the parts' results together ---- */

enum { GS_OUTPUT_GROUP = 64 }; /* work-items */

/* Enqueues a kernel with its arguments: GS_OUTPUT_LAUNCH(kernel, work-items, GS_ARG(a), GS_ARG(b), ...). */
static inline cl_int gs_run_output_kernel(cl_command_queue queue, const struct gs_put_launch *launch,
                                          const struct gs_events *wait, struct gs_events *done)
{
    cl_event event;
    const cl_int err = gs_put_kernel(queue, launch, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}
#define GS_ARG(v)                                                                                                      \
    {                                                                                                                  \
        sizeof(v), &(v)                                                                                                \
    }
#define GS_OUTPUT_LAUNCH(kernel, items, ...)                                                                           \
    &(const struct gs_put_launch)                                                                                      \
    {                                                                                                                  \
        kernel, (const struct gs_put_arg[]){__VA_ARGS__},                                                              \
            sizeof((const struct gs_put_arg[]){__VA_ARGS__}) / sizeof(struct gs_put_arg), items, GS_OUTPUT_GROUP       \
    }

/* ---- scratch memory: buffers for merges, kept for later ones, since making and freeing memory on a GPU takes time,
 * and freeing may wait for the GPU. A split launch comes after all earlier commands (rule 1 of docs/coherence.md), so
 * it can use an earlier one's buffers at once. ---- */

/* The end of a context. */
void gs_scratch_free(struct gs_context *ctx);

/* A buffer at home of at least so many bytes, the launch's until gs_scratch_give. Null with the error in *err. With
 * `ready` (before the parts run) a new buffer is written once, since a driver may notice only then that there is no
 * memory, and later steps must not fail; each of ready[0..n) gains that write's end. */
cl_mem gs_scratch_take(struct gs_command *cmd, uint64_t bytes, unsigned n, struct gs_events *ready, cl_int *err);

/* The launch's buffers are free again. !keep: the launch failed, its commands have no common end; releases buffers. */
void gs_scratch_give(struct gs_context *ctx, bool keep);

#endif
