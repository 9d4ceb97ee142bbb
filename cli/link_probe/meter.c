/* SPDX-License-Identifier: MIT */
#include "cli/link_probe/meter.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim/devices/group.h"
#include "shim/driver/enqueue.h"

enum { SLOT_BYTES = 4 * 1024 * 1024, SMALL_BYTES = 64 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_int to_or_from_host(struct gs_meter *b, const struct gs_meter_link *l, size_t bytes)
{
    char *memory = l->pinned ? b->pinned : b->pageable;
    if (l->from < 0)
        return gs_enqueue_blocking(gs_op_write(b->buffer[l->to], 0, bytes, memory), b->queue[l->to]);
    return gs_enqueue_blocking(gs_op_read(b->buffer[l->from], 0, bytes, memory), b->queue[l->from]);
}

static cl_device_id device_of(cl_command_queue queue)
{
    cl_device_id dev = NULL;
    gs_real()->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof dev, &dev, NULL);
    return dev;
}

/* What a piece between two devices goes through. */
static char *memory_between(const struct gs_meter *b, const struct gs_meter_link *l, size_t at, size_t bytes)
{
    const bool direct = gs_remote_is_direct(device_of(b->queue[l->from]), device_of(b->queue[l->to]), bytes);
    return direct ? gs_remote_kept(b->pinned + at) : b->pinned + at;
}

/* One piece of a copy between two devices: by the window on the first, or by the host's pinned memory. */
static cl_int first_hop(struct gs_meter *b, const struct gs_meter_link *l, size_t at, size_t bytes, cl_event *left)
{
    const int f = l->from;
    const struct gs_op hop = b->way == GS_BY_PEER
                                 ? gs_op_copy(b->buffer[f], b->windows.seen[f][f], at, at, bytes)
                                 : gs_op_read(b->buffer[f], at, bytes, memory_between(b, l, at, bytes));
    return gs_enqueue(&hop, b->queue[f], 0, NULL, left);
}

static cl_int second_hop(struct gs_meter *b, const struct gs_meter_link *l, size_t at, size_t bytes,
                         const cl_event *left)
{
    const int t = l->to;
    const struct gs_op hop = b->way == GS_BY_PEER
                                 ? gs_op_copy(b->windows.seen[l->from][t], b->buffer[t], at, at, bytes)
                                 : gs_op_write(b->buffer[t], at, bytes, memory_between(b, l, at, bytes));
    return gs_enqueue(&hop, b->queue[t], 1, left, NULL);
}

/* In pieces, as the shim does it: the second hop of one beside the first hop of the next. */
static cl_int between(struct gs_meter *b, const struct gs_meter_link *l, size_t bytes)
{
    if (b->way == GS_BY_COPY) {
        const struct gs_op copy = gs_op_copy(b->buffer[l->from], b->buffer[l->to], 0, 0, bytes);
        const cl_int refused = gs_enqueue(&copy, b->queue[l->to], 0, NULL, NULL);
        return refused ? refused : gs_real()->clFinish(b->queue[l->to]);
    }
    const size_t piece = b->way == GS_BY_PEER && bytes / 4 > SLOT_BYTES ? bytes / 4 : SLOT_BYTES;
    cl_int err = CL_SUCCESS;
    for (size_t at = 0; at < bytes && !err; at += piece) {
        const size_t n = bytes - at < piece ? bytes - at : piece;
        cl_event left;
        err = first_hop(b, l, at, n, &left);
        if (err)
            break;
        gs_real()->clFlush(b->queue[l->from]);
        err = second_hop(b, l, at, n, &left);
        gs_real()->clFlush(b->queue[l->to]);
        gs_real()->clReleaseEvent(left);
    }
    return err ? err : gs_real()->clFinish(b->queue[l->to]);
}

/* The median time of sending so many bytes, or the least, in us; negative where it can't be done. */
static double time_us(struct gs_meter *b, const struct gs_meter_link *l, size_t bytes, int runs)
{
    double us[GS_METER_RUNS];
    for (int r = -1; r < runs; r++) {
        const double begin = now_us();
        if ((l->from < 0 || l->to < 0 ? to_or_from_host(b, l, bytes) : between(b, l, bytes)) != CL_SUCCESS)
            return -1;
        if (r >= 0)
            us[r] = now_us() - begin;
    }
    qsort(us, (size_t)runs, sizeof *us, compare);
    return us[b->least ? 0 : runs / 2];
}

/* The bandwidth is that of the bytes beyond the small transfer's. */
bool gs_meter_measure(struct gs_meter *b, const struct gs_meter_link *l, int short_runs, int runs, double *latency_us,
                      double *gb_per_s)
{
    const double small = time_us(b, l, SMALL_BYTES, short_runs), large = time_us(b, l, b->bytes, runs);
    if (small < 0 || large <= small)
        return false;
    *latency_us = small;
    *gb_per_s = (double)(b->bytes - SMALL_BYTES) / (large - small) * 1e-3;
    return true;
}

cl_int gs_meter_host_memory(struct gs_meter *b, bool pageable)
{
    cl_int err;
    b->pageable = pageable ? malloc(b->bytes) : NULL;
    if (pageable && !b->pageable)
        return CL_OUT_OF_HOST_MEMORY;
    if (pageable)
        memset(b->pageable, 1, b->bytes);
    b->pinned_buffer =
        gs_real()->clCreateBuffer(b->ctx, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, b->bytes, NULL, &err);
    void *pinned = NULL;
    const struct gs_op map = {.kind = GS_OP_MAP_BUFFER,
                              .blocking = CL_TRUE,
                              .src = b->pinned_buffer,
                              .region = {b->bytes, 1, 1},
                              .map_flags = CL_MAP_READ | CL_MAP_WRITE,
                              .mapped = &pinned};
    if (!err)
        err = gs_enqueue(&map, b->queue[0], 0, NULL, NULL);
    b->pinned = pinned;
    if (!err)
        memset(b->pinned, 1, b->bytes);
    return err;
}

cl_int gs_meter_make(struct gs_meter *b, cl_context ctx, const cl_device_id *dev, unsigned n, size_t bytes)
{
    const cl_uint one = 1;
    cl_int err = CL_SUCCESS;
    *b = (struct gs_meter){.ctx = ctx, .n = n, .bytes = bytes};
    for (unsigned i = 0; i < n && !err; i++) {
        b->queue[i] = gs_real()->clCreateCommandQueue(ctx, dev[i], 0, &err);
        if (!err)
            b->buffer[i] = gs_real()->clCreateBuffer(ctx, CL_MEM_READ_WRITE, bytes, NULL, &err);
        const struct gs_op fill = gs_op_fill(b->buffer[i], 0, bytes, &one, sizeof one);
        if (!err)
            err = gs_enqueue(&fill, b->queue[i], 0, NULL, NULL);
        if (!err)
            err = gs_real()->clFinish(b->queue[i]);
    }
    return err;
}

struct gs_link_cost gs_meter_cost(struct gs_meter *b)
{
    enum { SHORT_RUNS = 9, RUNS = 2 };
    const struct gs_meter_link first = {0, 1, true};
    double latency_us, gb_per_s;
    b->least = true;
    if (b->n < 2 || !gs_meter_measure(b, &first, SHORT_RUNS, RUNS, &latency_us, &gb_per_s))
        return (struct gs_link_cost){0, 0};
    return gs_link_cost(latency_us, gb_per_s);
}
