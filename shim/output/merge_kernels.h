/* SPDX-License-Identifier: MIT */
/* The kernels by which the results of parts are brought together. With the context's lock held. */
#ifndef GS_SHIM_OUTPUT_MERGE_KERNELS_H
#define GS_SHIM_OUTPUT_MERGE_KERNELS_H

#include "shim/order/command.h"
#include "shim/schedule/put.h"

/* Those of the program that each place has: of merges, and of trials. */
enum gs_output_kernel { GS_OUTPUT_MERGE, GS_OUTPUT_DIFFERS, GS_OUTPUT_KERNELS };
enum { GS_OUTPUT_GROUP = 64 }; /* work-items */

/* Makes the kernels if they aren't there yet: what may fail for lack of memory, before anything runs. Those of a place;
 * and those of reductions, which home has. */
cl_int gs_merge_kernels_make(struct gs_context *ctx, unsigned place);
cl_int gs_reduce_kernels_make(struct gs_context *ctx);
void gs_merge_kernels_free(struct gs_merge_kernels *k);

/* One of the place's, once they are made. */
cl_kernel gs_output_kernel(const struct gs_context *ctx, unsigned place, enum gs_output_kernel which);
cl_kernel gs_reduce_kernel(const struct gs_context *ctx, enum gs_atomic_type type);

/* Enqueues one: GS_OUTPUT_LAUNCH(kernel, work-items, GS_ARG(a), GS_ARG(b), ...) has all its arguments. */
cl_int gs_run_output_kernel(cl_command_queue queue, const struct gs_put_launch *launch, const struct gs_events *wait,
                            struct gs_events *done);
#define GS_ARG(v)                                                                                                      \
    {                                                                                                                  \
        sizeof(v), &(v), _Generic((v), cl_mem : true, default : false)                                                 \
    }
#define GS_OUTPUT_LAUNCH(kernel, items, ...)                                                                           \
    &(const struct gs_put_launch)                                                                                      \
    {                                                                                                                  \
        kernel, (const struct gs_put_arg[]){__VA_ARGS__},                                                              \
            sizeof((const struct gs_put_arg[]){__VA_ARGS__}) / sizeof(struct gs_put_arg), items, GS_OUTPUT_GROUP       \
    }

#endif
