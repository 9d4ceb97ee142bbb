/* SPDX-License-Identifier: MIT */
/* The kernels by which the results of parts are brought together. With the context's lock held. */
#ifndef GS_SHIM_OUTPUT_MERGE_KERNELS_H
#define GS_SHIM_OUTPUT_MERGE_KERNELS_H

#include "shim/order/command.h"
#include "shim/schedule/put.h"

/* Those of the program that each place has: of whole merges and merges by blocks, and of trials. */
enum gs_output_kernel { GS_OUTPUT_MERGE, GS_OUTPUT_PACK, GS_OUTPUT_UNPACK, GS_OUTPUT_DIFFERS, GS_OUTPUT_KERNELS };

/* Makes the kernels if they aren't there yet: what may fail for lack of memory, before anything runs. Those of a place;
 * and those of reductions, which home has. */
cl_int gs_merge_kernels_make(struct gs_context *ctx, unsigned place);
cl_int gs_reduce_kernels_make(struct gs_context *ctx);
void gs_merge_kernels_free(struct gs_merge_kernels *k);

/* One of the place's, once they are made; and one more, which another thread may use without the lock. */
cl_kernel gs_output_kernel(const struct gs_context *ctx, unsigned place, enum gs_output_kernel which);
cl_kernel gs_reduce_kernel(const struct gs_context *ctx, enum gs_atomic_type type);
cl_kernel gs_new_output_kernel(struct gs_context *ctx, unsigned place, enum gs_output_kernel which, cl_int *err);

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
            sizeof((const struct gs_put_arg[]){__VA_ARGS__}) / sizeof(struct gs_put_arg), items, GS_BLOCK_ITEMS        \
    }

/* gs_merge: dst[begin + i] = part[i] for each of n bytes that differs from kept[i]. */
struct gs_merge_bytes {
    cl_mem dst, part, kept;
    uint64_t begin, n;
};
cl_int gs_enqueue_merge(cl_command_queue queue, cl_kernel k, const struct gs_merge_bytes *bytes,
                        const struct gs_events *wait, struct gs_events *done);

/* Merges by blocks: a work-group for each. */
enum { GS_BLOCK_BYTES = 1024, GS_BLOCK_ITEMS = 64, GS_RECORD_BYTES = GS_BLOCK_BYTES + 16 };
static inline uint64_t gs_blocks_of(uint64_t n)
{
    return (n + GS_BLOCK_BYTES - 1) / GS_BLOCK_BYTES;
}

#endif
