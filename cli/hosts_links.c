/* SPDX-License-Identifier: MIT */
#include "cli/hosts_links.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 21, LARGE_TIMES = 5, LARGE_BYTES = 4 * 1024 * 1024, SMALL_BYTES = 4 };

struct meter {
    cl_context ctx;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    void *bytes;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_int write_bytes(const struct meter *m, size_t bytes)
{
    return gs_real()->clEnqueueWriteBuffer(m->queue, m->buffer, CL_TRUE, 0, bytes, m->bytes, 0, NULL, NULL);
}

static cl_int launch(const struct meter *m)
{
    const size_t one = 1;
    const cl_int err = gs_real()->clEnqueueNDRangeKernel(m->queue, m->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    return err ? err : gs_real()->clFinish(m->queue);
}

/* The median of so many, after one that isn't counted; below 0: it failed. */
static double median(const struct meter *m, unsigned times, size_t bytes)
{
    double v[TIMES];
    for (unsigned i = 0; i <= times; i++) {
        const double begin = now_us();
        if ((bytes ? write_bytes(m, bytes) : launch(m)) != CL_SUCCESS)
            return -1;
        if (i)
            v[i - 1] = now_us() - begin;
    }
    qsort(v, times, sizeof *v, compare);
    return v[times / 2];
}

static bool make(struct meter *m, cl_device_id dev)
{
    /* With an argument: NVIDIA's compiler makes no PTX that it can read of a kernel without, if arguments are to be
     * told. */
    static const char *source = "kernel void nothing(global int *unused) {}";
    cl_int err;
    m->ctx = gs_real()->clCreateContext(NULL, 1, &dev, NULL, NULL, &err);
    if (!err)
        m->queue = gs_real()->clCreateCommandQueue(m->ctx, dev, 0, &err);
    if (!err)
        m->program = gs_real()->clCreateProgramWithSource(m->ctx, 1, &source, NULL, &err);
    if (!err)
        err = gs_real()->clBuildProgram(m->program, 1, &dev, NULL, NULL, NULL);
    if (!err)
        m->kernel = gs_real()->clCreateKernel(m->program, "nothing", &err);
    if (!err)
        m->buffer = gs_real()->clCreateBuffer(m->ctx, CL_MEM_READ_WRITE, LARGE_BYTES, NULL, &err);
    if (!err)
        err = gs_real()->clSetKernelArg(m->kernel, 0, sizeof m->buffer, &m->buffer);
    m->bytes = calloc(1, LARGE_BYTES);
    return !err && m->bytes;
}

static void drop(struct meter *m)
{
    free(m->bytes);
    if (m->buffer)
        gs_real()->clReleaseMemObject(m->buffer);
    if (m->kernel)
        gs_real()->clReleaseKernel(m->kernel);
    if (m->program)
        gs_real()->clReleaseProgram(m->program);
    if (m->queue)
        gs_real()->clReleaseCommandQueue(m->queue);
    if (m->ctx)
        gs_real()->clReleaseContext(m->ctx);
}

bool gs_host_link_measure(cl_device_id dev, struct gs_host_link *link)
{
    struct meter m = {0};
    double large_us = -1;
    *link = (struct gs_host_link){-1, -1, 0};
    if (make(&m, dev)) {
        link->round_trip_us = median(&m, TIMES, SMALL_BYTES);
        link->launch_us = median(&m, TIMES, 0);
        large_us = median(&m, LARGE_TIMES, LARGE_BYTES);
    }
    drop(&m);
    if (large_us > 0)
        link->gb_per_s = (double)LARGE_BYTES / large_us / 1e3;
    return link->round_trip_us > 0 && link->launch_us > 0 && large_us > 0;
}
