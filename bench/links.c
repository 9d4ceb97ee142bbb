/* SPDX-License-Identifier: MIT */
/* What the links between the group's GPUs carry, by each way that the shim knows: bandwidths in GB/s, median of seven.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shim/devices/group.h"
#include "shim/transfer/windows.h"

enum { RUNS = 7, MIB = 1024 * 1024 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of copying once, by copies of at most `piece` bytes. */
static double copy_gbs(cl_command_queue q, cl_mem src, cl_mem dst, size_t bytes, size_t piece)
{
    double s[RUNS];
    for (int r = -1; r < RUNS; r++) {
        const double begin = now_s();
        for (size_t at = 0; at < bytes; at += piece)
            if (gs_real()->clEnqueueCopyBuffer(q, src, dst, at, at, piece, 0, NULL, NULL) != CL_SUCCESS)
                return -1;
        gs_real()->clFinish(q);
        if (r >= 0)
            s[r] = now_s() - begin;
    }
    qsort(s, RUNS, sizeof *s, compare);
    return (double)bytes / s[RUNS / 2] / 1e9;
}

static double kernel_gbs(cl_command_queue q, cl_kernel k, cl_mem src, cl_mem dst, size_t bytes)
{
    double s[RUNS];
    const size_t global = bytes / 16;
    gs_real()->clSetKernelArg(k, 0, sizeof dst, &dst);
    gs_real()->clSetKernelArg(k, 1, sizeof src, &src);
    for (int r = -1; r < RUNS; r++) {
        const double begin = now_s();
        if (gs_real()->clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL) != CL_SUCCESS)
            return -1;
        gs_real()->clFinish(q);
        if (r >= 0)
            s[r] = now_s() - begin;
    }
    qsort(s, RUNS, sizeof *s, compare);
    return (double)bytes / s[RUNS / 2] / 1e9;
}

int main(void)
{
    const struct gs_group *g = gs_group();
    cl_int err;
    if (g->n < 2) {
        fprintf(stderr, "links: there is one device\n");
        return 1;
    }
    cl_context ctx = gs_real()->clCreateContext(NULL, 2, g->dev, NULL, NULL, &err);
    cl_command_queue q[2];
    cl_mem native[2];
    const size_t bytes = 128 * (size_t)MIB;
    struct gs_windows w;
    char why[256];
    const char *text =
        "kernel void copy(global uint4 *d, global const uint4 *s) { d[get_global_id(0)] = s[get_global_id(0)]; }";
    for (int i = 0; i < 2; i++) {
        q[i] = gs_real()->clCreateCommandQueue(ctx, g->dev[i], 0, &err);
        native[i] = gs_real()->clCreateBuffer(ctx, CL_MEM_READ_WRITE, bytes, NULL, &err);
        const cl_uint one = 1;
        gs_real()->clEnqueueFillBuffer(q[i], native[i], &one, sizeof one, 0, bytes, 0, NULL, NULL);
        gs_real()->clFinish(q[i]);
    }
    const double begin = now_s();
    w = (struct gs_windows){.n = 2, .bytes = bytes};
    if (gs_windows_open(&w, ctx, g->dev, why, sizeof why) < 0) {
        fprintf(stderr, "links: %s\n", why);
        return 1;
    }
    printf("windows opened in %.3f s; try: %d\n", now_s() - begin, gs_windows_try(&w, ctx, g->dev, why, sizeof why));
    cl_program p = gs_real()->clCreateProgramWithSource(ctx, 1, &text, NULL, &err);
    gs_real()->clBuildProgram(p, 2, g->dev, "", NULL, NULL);
    cl_kernel k = gs_real()->clCreateKernel(p, "copy", &err);
    for (size_t piece = 1; piece <= 128; piece *= 4)
        printf("copy of %3zu MiB: native to own window %.1f, peer window to native %.1f, native to peer window %.1f "
               "GB/s\n",
               piece, copy_gbs(q[0], native[0], w.seen[0][0], bytes, piece * MIB),
               copy_gbs(q[1], w.seen[0][1], native[1], bytes, piece * MIB),
               copy_gbs(q[0], native[0], w.seen[1][0], bytes, piece * MIB));
    printf("kernel: native to own window %.1f, peer window to native %.1f, native to peer window %.1f GB/s\n",
           kernel_gbs(q[0], k, native[0], w.seen[0][0], bytes), kernel_gbs(q[1], k, w.seen[0][1], native[1], bytes),
           kernel_gbs(q[0], k, native[0], w.seen[1][0], bytes));
    return 0;
}
