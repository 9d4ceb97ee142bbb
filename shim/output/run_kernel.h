/* SPDX-License-Identifier: MIT */
/* Runs one of the kernels by which the results of parts are brought together. With the context's lock held. */
#ifndef GS_SHIM_OUTPUT_RUN_KERNEL_H
#define GS_SHIM_OUTPUT_RUN_KERNEL_H

#include "shim/record/own_kernels.h"
#include "shim/put/put.h"

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
