/* SPDX-License-Identifier: MIT */
/* The parts' writes become one memory, in one of two ways. With the context's lock held; nothing blocks.
 *
 * Outputs whose writers could not be told apart (GPU-SPARC, section III-C) are merged: the parts start from equal
 * bytes, a copy of which home keeps. Afterwards what each part holds is brought home, and every byte that differs from
 * the copy was written by that part.
 *
 * Bytes that only atomics of one operation touch, their results unused (GS_REDUCED), are reduced: the first part works
 * on the values at home; every other on a copy that starts from the element that changes nothing (0, all ones, the
 * greatest or the least), so that no old value has to be sent or kept; then the copies are combined with home's. */
#ifndef GS_SHIM_OUTPUT_OUTPUT_H
#define GS_SHIM_OUTPUT_OUTPUT_H

#include "shim/plan/plan.h"
#include "shim/put/put.h"

/* The merge, or reduction, of one buffer in one launch. */
struct gs_merge {
    struct gs_mem *root;
    struct gs_range window;         /* what is merged */
    cl_mem kept;                    /* scratch memory of home's, */
    cl_mem arrived[GS_MAX_DEVICES]; /* and for what comes from each part */
};

/* Before the parts run, where all places hold the same bytes: home keeps a copy. ready[p] is what the parts wait for on
 * place p; ready[0] gains the copy. */
cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready);

/* Once the parts have run (part i on place i, ended at event ran[i]) brings home what they wrote. Adds to `done`. */
cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done);

/* Before the parts run, once all that they need is under way: fills the copies, and sees to memory for afterwards. Part
 * p waits for ready[p], which also says what the copy must wait for. From here on home alone holds the bytes. */
cl_int gs_reduce_begin(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       struct gs_events *ready);

/* Once the parts have run (part i on place i, ended at event ran[i]): combines the copies at home. Adds to `done`. */
cl_int gs_reduce_parts(struct gs_command *cmd, const struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       const cl_event *ran, struct gs_events *done);

/* ---- the kernels by which the results of parts are brought together ---- */

enum { GS_OUTPUT_GROUP = 64 }; /* work-items */

/* Enqueues one: GS_OUTPUT_LAUNCH(kernel, work-items, GS_ARG(a), GS_ARG(b), ...) has all its arguments. */
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

/* ---- scratch memory: buffers that a merge needs for as long as it runs, kept for the next one: to make and free
 * memory on a GPU takes time, and to free it may wait for the GPU. A split launch comes after everything that was
 * enqueued before it (rule 1 of docs/coherence.md): the buffers of an earlier one may be used again at once. ---- */

/* The end of a context. */
void gs_scratch_free(struct gs_context *ctx);

/* A buffer of at least so many bytes, for commands on home; the launch has it until it gives all back. Null with an
 * error in *err. With `ready`, before the parts run, a new one is used once, since a driver may find only then that
 * there is no memory, and joining the parts' outputs mustn't fail: all n of `ready` gain that use's end. */
cl_mem gs_scratch_take(struct gs_command *cmd, uint64_t bytes, unsigned n, struct gs_events *ready, cl_int *err);

/* What the launch took is free again; it isn't kept where the launch failed, since its commands have no common end. */
void gs_scratch_give(struct gs_context *ctx, bool keep);

#endif
