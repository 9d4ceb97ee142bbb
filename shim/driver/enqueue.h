/* SPDX-License-Identifier: MIT */
/* One command as the driver is asked for it, and the only caller of the driver's clEnqueue* functions. Stateless. */
#ifndef GS_SHIM_DRIVER_ENQUEUE_H
#define GS_SHIM_DRIVER_ENQUEUE_H

#include <stdint.h>

#include "shim/driver/real.h"

/* As CL_COMMAND_NDRANGE_KERNEL and what follows it: gs_op_command_type. A task is a launch. */
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

/* What it points to is the caller's, for as long as it is used. */
struct gs_op {
    enum gs_op_kind kind;
    cl_bool blocking;               /* of reads, writes and maps */
    bool whole;                     /* of transfers: not to be cut into pieces */
    bool no_from, no_to, no_region; /* the application gave a null pointer: so the driver gets one */
    union {
        struct {             /* transfers, maps and unmaps */
            cl_mem src, dst; /* of a read, a map, a write or a fill one of them is null. Of an unmap: dst */
            /* Where it begins: an offset in [0], or three coordinates; of a rectangle in the host's memory too. */
            size_t from[3], to[3];
            size_t region[3]; /* bytes, or texels, in a row; rows; slices. What isn't a region has 1 of the latter */
            /* Rows and slices in bytes as the driver is given them, 0 as well: of a rectangle in src and in dst, of the
             * host's memory of an image in either. */
            size_t from_pitch[2], to_pitch[2];
            size_t texel;        /* bytes of an image's; 0: it isn't to be cut into pieces */
            void *ptr;           /* the host's memory; of a write it is only read */
            const void *pattern; /* of a fill; its size in bytes, of an image's fill 16, or 4 where that is a depth's */
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
    return (struct gs_op){.kind = GS_OP_FILL,
                          .dst = dst,
                          .to = {offset},
                          .region = {bytes, 1, 1},
                          .pattern = pattern,
                          .pattern_bytes = pattern_bytes};
}

static inline struct gs_op gs_op_launch(cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                                        const size_t *local)
{
    return (struct gs_op){
        .kind = GS_OP_LAUNCH, .kernel = kernel, .dims = dims, .offset = offset, .global = global, .local = local};
}

/* Does it move bytes between the host's memory and a device? */
bool gs_op_is_by_host(const struct gs_op *op);

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

/* Enqueues it. The error is the driver's; CL_INVALID_OPERATION where the driver hasn't got the function. */
cl_int gs_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                  cl_event *event);

/* The driver's function itself: for gs_enqueue, and who sees commands on their way there. */
cl_int gs_enqueue_real(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event);

/* Do its address and length agree, and is each an event? If not, what comes of the command is the driver's to say. */
static inline bool gs_list_is_valid(cl_uint n, const cl_event *wait)
{
    bool sound = !n == !wait;
    for (cl_uint i = 0; i < n && sound; i++)
        sound = wait[i];
    return sound;
}

/* Markers and barriers, of which nobody above is told; `wait` may be given for no events, for which a driver may have
 * an error. The application's own calls are these (shim/gen.py); those of OpenCL 1.1 are clEnqueueMarker,
 * clEnqueueBarrier and clEnqueueWaitForEvents. */
cl_int gs_enqueue_marker(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int gs_enqueue_barrier(cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int gs_enqueue_marker_1_1(cl_command_queue queue, cl_event *event);
cl_int gs_enqueue_barrier_1_1(cl_command_queue queue);
cl_int gs_enqueue_wait_1_1(cl_command_queue queue, cl_uint n_wait, const cl_event *wait);

/* A read or write that blocks, without a wait list. */
cl_int gs_enqueue_blocking(struct gs_op op, cl_command_queue queue);

#endif
