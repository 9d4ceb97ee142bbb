/* SPDX-License-Identifier: MIT */
/* One command as the driver is asked for it, and the only caller of the driver's clEnqueue* functions. No state. */
#ifndef GS_SHIM_DRIVER_ENQUEUE_H
#define GS_SHIM_DRIVER_ENQUEUE_H

#include <stdint.h>

#include "shim/driver/real.h"

/* Kinds in the order of CL_COMMAND_NDRANGE_KERNEL and what follows: gs_op_command_type. clEnqueueTask is a launch. */
enum gs_op_kind {
    GS_OP_LAUNCH,
    GS_OP_NATIVE = CL_COMMAND_NATIVE_KERNEL - CL_COMMAND_NDRANGE_KERNEL,
    GS_OP_READ,
    GS_OP_WRITE,
    GS_OP_COPY,
    GS_OP_READ_IMAGE,
    GS_OP_WRITE_IMAGE,
    GS_OP_COPY_IMAGE,
    GS_OP_IMAGE_TO_BUFFER,
    GS_OP_BUFFER_TO_IMAGE,
    GS_OP_MAP_BUFFER,
    GS_OP_MAP_IMAGE,
    GS_OP_UNMAP,
    GS_OP_MARKER,
    GS_OP_READ_RECT = CL_COMMAND_READ_BUFFER_RECT - CL_COMMAND_NDRANGE_KERNEL,
    GS_OP_WRITE_RECT,
    GS_OP_COPY_RECT,
    GS_OP_BARRIER = CL_COMMAND_BARRIER - CL_COMMAND_NDRANGE_KERNEL,
    GS_OP_MIGRATE,
    GS_OP_FILL,
    GS_OP_FILL_IMAGE,
    GS_OP_KINDS
};

enum { GS_OP_PATTERN_BYTES = 128 }; /* of the largest vector of doubles */

/* Pointers in an operation are the caller's, valid while the operation is used. */
struct gs_op {
    enum gs_op_kind kind;
    cl_bool blocking;               /* for reads, writes and maps */
    bool whole;                     /* for transfers: must not be cut into pieces */
    bool no_from, no_to, no_region; /* the application gave a null pointer, and so does gs_enqueue */
    union {
        struct {             /* transfers, maps and unmaps */
            cl_mem src, dst; /* null on the host's side, and in a fill src; of an unmap: dst */
            /* The begin on each side: an offset in [0], or three coordinates; also of rectangles in host memory. */
            size_t from[3], to[3];
            size_t region[3]; /* bytes (or texels) in a row; rows; slices. Not a region: the latter are 1 */
            /* Bytes from row to row and slice to slice, as given (0: the driver's default): of a rectangle in src and
             * in dst; of an image in the host's memory, in either. */
            size_t from_pitch[2], to_pitch[2];
            size_t texel;        /* bytes of an image's texel; 0: must not be cut into pieces */
            void *ptr;           /* the host's memory; only read by a write */
            const void *pattern; /* of a fill, with its size in bytes: of an image's fill 16, of a depth image's 4 */
            size_t pattern_bytes;
            cl_map_flags map_flags;
            void **mapped; /* where a map's address goes */
            size_t *row_pitch, *slice_pitch;
        };
        struct { /* launches */
            cl_kernel kernel;
            cl_uint dims;
            const size_t *offset, *global, *local;
        };
        struct { /* native kernels and migrations */
            void(CL_CALLBACK *function)(void *);
            void *args;
            size_t args_bytes;
            cl_uint n_mems;
            const cl_mem *mems;
            const void **places;
            cl_mem_migration_flags migration_flags;
        };
    };
};

static inline struct gs_op gs_op_read(cl_mem src, size_t offset, size_t bytes, void *to)
{
    return (struct gs_op){.kind = GS_OP_READ, .src = src, .from = {offset}, .region = {bytes, 1, 1}, .ptr = to};
}

static inline struct gs_op gs_op_write(cl_mem dst, size_t offset, size_t bytes, const void *from)
{
    return (struct gs_op){
        .kind = GS_OP_WRITE, .dst = dst, .to = {offset}, .region = {bytes, 1, 1}, .ptr = (void *)(uintptr_t)from};
}

static inline struct gs_op gs_op_copy(cl_mem src, cl_mem dst, size_t from, size_t to, size_t bytes)
{
    return (struct gs_op){
        .kind = GS_OP_COPY, .src = src, .dst = dst, .from = {from}, .to = {to}, .region = {bytes, 1, 1}};
}

static inline struct gs_op gs_op_fill(cl_mem dst, size_t offset, size_t bytes, const void *pattern,
                                      size_t pattern_bytes)
{
    struct gs_op op = {.kind = GS_OP_FILL, .dst = dst, .to = {offset}, .region = {bytes, 1, 1}};
    op.pattern = pattern;
    op.pattern_bytes = pattern_bytes;
    return op;
}

static inline struct gs_op gs_op_launch(cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                                        const size_t *local)
{
    return (struct gs_op){
        .kind = GS_OP_LAUNCH, .kernel = kernel, .dims = dims, .offset = offset, .global = global, .local = local};
}

/* Does it move bytes between the host's memory and a device? */
bool gs_op_crosses_host(const struct gs_op *op);

/* Is an image concerned? Of transfers and maps. */
static inline bool gs_op_is_of_image(const struct gs_op *op)
{
    return (op->kind >= GS_OP_READ_IMAGE && op->kind <= GS_OP_BUFFER_TO_IMAGE) || op->kind == GS_OP_MAP_IMAGE ||
           op->kind == GS_OP_FILL_IMAGE;
}

/* CL_COMMAND_READ_BUFFER and its like. */
static inline cl_command_type gs_op_command_type(const struct gs_op *op)
{
    return CL_COMMAND_NDRANGE_KERNEL + op->kind;
}

/* Enqueues the operation. The error is the driver's; CL_INVALID_OPERATION: the driver lacks the function. */
cl_int gs_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                  cl_event *event);

/* Calls the driver's function itself: for gs_enqueue, and for gs_above_driver. */
cl_int gs_enqueue_real(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event);

/* Has the list both address and length, or neither, and no nulls? If not, the driver judges the command. */
static inline bool gs_list_is_valid(cl_uint n, const cl_event *wait)
{
    bool sound = !n == !wait;
    for (cl_uint i = 0; i < n && sound; i++)
        sound = wait[i];
    return sound;
}

/* Markers and barriers, which no upper room sees. A driver may refuse `wait` with no events. The application's calls
 * come here (shim/gen.py); OpenCL 1.1's are clEnqueueMarker, clEnqueueBarrier and clEnqueueWaitForEvents. */
cl_int gs_enqueue_marker(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int gs_enqueue_barrier(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int gs_enqueue_marker_1_1(cl_command_queue queue, cl_event *event);
cl_int gs_enqueue_barrier_1_1(cl_command_queue queue);
cl_int gs_enqueue_wait_1_1(cl_command_queue queue, cl_uint n_wait, const cl_event *wait);

/* A read or write that blocks, without a wait list. */
cl_int gs_enqueue_blocking(struct gs_op op, cl_command_queue queue);

#endif
