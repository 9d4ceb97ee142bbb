/* SPDX-License-Identifier: MIT */
/* Outputs whose writers could not be told apart (GPU-SPARC, section III-C): the parts start from equal bytes, a copy of
 * which home keeps. Afterwards what each part holds is brought home, and every byte that differs from the copy was
 * written by that part. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_MERGE_H
#define GS_SHIM_OUTPUT_MERGE_H

#include "shim/put/put.h"
#include "shim/record/own_kernels.h"

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

#endif
