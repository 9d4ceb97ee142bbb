/* SPDX-License-Identifier: MIT */
/* The kernels that put lists behind each other (shim/output/append.h), which each place's program of
 * shim/output/merge_kernels.h has. With the context's lock held. */
#ifndef GS_SHIM_OUTPUT_APPEND_KERNELS_H
#define GS_SHIM_OUTPUT_APPEND_KERNELS_H

#include "shim/order/command.h"

/* Their text, for that program. */
extern const char gs_list_source[];

/* What is appended at a time, and how much there is room for. */
struct gs_list_shape {
    uint64_t at, bytes;   /* of the list of all: where it begins in its root, and its size */
    uint32_t step, unit;  /* see struct gs_append */
    uint64_t limit, lead; /* see struct gs_append_place */
};

/* How many bytes a part may have appended at most. */
uint64_t gs_list_most(const struct gs_list_shape *s);

/* What the counters say of a part: its elements from `skipped` to `elements`, what the limit and the list's size let
 * through, stand in the list of all, as if its first stood at `first`. `counted`: how far the first part has counted,
 * from `was` on, or another has, from 0 on; `base`: where the other's begin. As the kernels have it. */
struct gs_list_piece {
    int64_t first;
    uint64_t skipped, elements;
};
struct gs_list_piece gs_list_first_piece(const struct gs_list_shape *s, uint32_t was, uint32_t counted);
struct gs_list_piece gs_list_next_piece(const struct gs_list_shape *s, uint32_t base, uint32_t counted);

/* Puts lists behind each other by way of memory that both devices' kernels reach: from `at` on, and around at its end;
 * first GS_LIST_HEAD_BYTES that say what there is, and then the elements' bytes [from, from + most). */
enum { GS_LIST_HEAD_BYTES = 256 };
struct gs_list_meeting {
    cl_mem mem;
    uint64_t at, end, from, most;
};
/* counter: what `part` has counted, at counter_at; was: what the first part's was before, for it alone. */
cl_int gs_enqueue_list_leave(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                             const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem list,
                             uint64_t list_at, cl_mem counter, uint64_t counter_at, cl_mem was,
                             const struct gs_events *wait, struct gs_events *done);
/* bases[p]: where part p's begin, which this sets for p = part + 1. */
cl_int gs_enqueue_list_take(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                            const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem dst,
                            cl_mem bases, const struct gs_events *wait, struct gs_events *done);

#endif
