/* SPDX-License-Identifier: MIT */
/* The kernels by which the results of parts are brought together. With the context's lock held. */
#ifndef GS_SHIM_OUTPUT_MERGE_KERNELS_H
#define GS_SHIM_OUTPUT_MERGE_KERNELS_H

#include "shim/order/command.h"
#include "shim/schedule/put.h"

/* Those of the program that each place has: of whole merges and merges by blocks, of trials, and of lists
 * (shim/output/append_kernels.h). */
enum gs_output_kernel {
    GS_OUTPUT_MERGE,
    GS_OUTPUT_LEAVE,
    GS_OUTPUT_PICK_UP,
    GS_OUTPUT_PACK,
    GS_OUTPUT_UNPACK,
    GS_OUTPUT_DIFFERS,
    GS_OUTPUT_LIST_LEAVE,
    GS_OUTPUT_LIST_TAKE,
    GS_OUTPUT_KERNELS
};

/* Makes the kernels if they aren't there yet: what may fail for lack of memory, before anything runs. Those of a place;
 * and those of reductions, which home has. */
cl_int gs_merge_kernels_make(struct gs_context *ctx, unsigned place);
cl_int gs_reduce_kernels_make(struct gs_context *ctx);
void gs_merge_kernels_free(struct gs_merge_kernels *k);

/* One of the place's, once they are made; and one more, which another thread may use without the lock. */
cl_kernel gs_output_kernel(const struct gs_context *ctx, unsigned place, enum gs_output_kernel which);
cl_kernel gs_new_output_kernel(struct gs_context *ctx, unsigned place, enum gs_output_kernel which, cl_int *err);

/* Enqueues one, with all its arguments: GS_ARGS(GS_ARG(a), GS_ARG(b), ...) stands for `args` and `n_args`. */
cl_int gs_run_output_kernel(cl_command_queue queue, cl_kernel k, uint64_t items, const struct gs_put_arg *args,
                            cl_uint n_args, const struct gs_events *wait, struct gs_events *done);
#define GS_ARG(v)                                                                                                      \
    {                                                                                                                  \
        sizeof(v), &(v), _Generic((v), cl_mem : true, default : false)                                                 \
    }
#define GS_ARGS(...)                                                                                                   \
    (const struct gs_put_arg[]){__VA_ARGS__},                                                                          \
        sizeof((const struct gs_put_arg[]){__VA_ARGS__}) / sizeof(struct gs_put_arg)

/* dst[begin + i] = part[i] for each of n bytes that differs from kept[i]; at home, or by a kernel of the caller's own,
 * without the lock. */
cl_int gs_enqueue_merge(struct gs_context *ctx, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem part,
                        cl_mem kept, uint64_t n, const struct gs_events *wait, struct gs_events *done);
cl_int gs_enqueue_merge_by(cl_kernel k, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem part, cl_mem kept,
                           uint64_t n, const struct gs_events *wait, struct gs_events *done);

/* The merge of n bytes by way of memory that both devices' kernels reach (shim/memory/exchange_buffer.h), in blocks of
 * GS_BLOCK_BYTES. gs_enqueue_leave, on the part's place, compares part[begin ...] with kept[at ...] and leaves the
 * blocks that differ at `meeting`, and behind all blocks a word for each that says whether it did; it adds the
 * sixteens of bytes that it left to *count, unless count is null. gs_enqueue_pick_up, on the first place, puts what
 * differs from kept[at
 * ...] into dst[begin ...]. */
enum { GS_BLOCK_BYTES = 1024 };
uint64_t gs_blocks_of(uint64_t n);
cl_int gs_enqueue_leave(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem meeting,
                        uint64_t meeting_at, cl_mem part, uint64_t begin, cl_mem kept, uint64_t at, uint64_t n,
                        cl_mem count, const struct gs_events *wait, struct gs_events *done);
cl_int gs_enqueue_pick_up(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem dst, uint64_t begin,
                          cl_mem meeting, uint64_t meeting_at, cl_mem kept, uint64_t at, uint64_t n, bool yields,
                          const struct gs_events *wait, struct gs_events *done);

/* The merge of n bytes by way of records, which hold the number of a block and the block. gs_enqueue_pack compares
 * part[begin ...] with kept[0 ...], makes records of at most `most` blocks that differ, and adds to *count, which
 * starts at 0, how many do. gs_enqueue_unpack puts of `count` records what differs from kept[0 ...] into dst[begin
 * ...], by a kernel of the caller's own, without the lock. */
enum { GS_RECORD_BYTES = GS_BLOCK_BYTES + 16 };
cl_int gs_enqueue_pack(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem records, cl_uint most,
                       cl_mem part, uint64_t begin, cl_mem kept, uint64_t n, cl_mem count, const struct gs_events *wait,
                       struct gs_events *done);
cl_int gs_enqueue_unpack(cl_kernel k, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem records, cl_uint count,
                         cl_mem kept, uint64_t n, bool yields, const struct gs_events *wait, struct gs_events *done);

/* What n bytes take of a meeting place, the words included; and the words alone. */
uint64_t gs_exchange_buffer_need(uint64_t n);
uint64_t gs_exchange_buffer_words(uint64_t n);

/* dst[dst_begin + i] = dst[dst_begin + i] OP part[part_begin + i] for n bytes of whole elements; offsets in bytes. */
cl_int gs_enqueue_reduce(struct gs_context *ctx, cl_command_queue queue, enum gs_atomic_op op, enum gs_atomic_type type,
                         cl_mem dst, uint64_t dst_begin, cl_mem part, uint64_t part_begin, uint64_t n,
                         const struct gs_events *wait, struct gs_events *done);

/* The element that changes nothing, in the low bytes of the number. */
uint64_t gs_reduce_identity(enum gs_atomic_op op, enum gs_atomic_type type);

/* Sets *flag if some of the n bytes of `part` from `begin` on differ from those kept. */
cl_int gs_enqueue_differs(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem part, uint64_t begin,
                          cl_mem kept, uint64_t n, cl_mem flag, const struct gs_events *wait, struct gs_events *done);

#endif
