/* SPDX-License-Identifier: MIT */
/* A search that puts what it finds behind a list's end (rule 20 of docs/coherence.md), as an application's clock shows
 * it: run it plain and under gpusparc, and compare.
 *   lists [--items MI] [--rounds N] [--mask M] [--launches N]
 * Each of so many Mi work-items computes for N rounds; one of M + 1 (a power of two) keeps its number. A launch is
 * timed with the write that resets the counter and the read of what was counted. Prints one line of JSON: what was
 * counted, the median and the mean of the launches in milliseconds, and the first and the least. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP = 256, MOST_LAUNCHES = 1001 };

static const char source[] = "__kernel void keep(uint rounds, uint mask, __global uint *list, __global uint *n)\n"
                             "{\n"
                             "    uint v = get_global_id(0);\n"
                             "    for (uint r = 0; r < rounds; r++)\n"
                             "        v = v * 1664525u + 1013904223u;\n"
                             "    if ((v >> 8 & mask) == 0)\n"
                             "        list[atomic_inc(n)] = get_global_id(0);\n"
                             "}\n";

static void check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "lists: %s: error %d\n", what, err);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_mem make_buffer(cl_context ctx, size_t bytes)
{
    cl_int err;
    cl_mem m = clCreateBuffer(ctx, CL_MEM_READ_WRITE, bytes, NULL, &err);
    check(err, "clCreateBuffer");
    return m;
}

static double launch_ms(cl_command_queue queue, cl_kernel keep, cl_mem counter, size_t items, cl_uint *n)
{
    const size_t group = GROUP;
    const cl_uint zero = 0;
    const double begin = now_ms();
    check(clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL), "clEnqueueWriteBuffer");
    check(clEnqueueNDRangeKernel(queue, keep, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof *n, n, 0, NULL, NULL), "clEnqueueReadBuffer");
    return now_ms() - begin;
}

int main(int argc, char **argv)
{
    size_t mi = 64;
    cl_uint rounds = 1500, mask = 7, n = 0;
    int launches = 24;
    for (int i = 1; i + 1 < argc; i += 2) {
        const unsigned long v = strtoul(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--items"))
            mi = v;
        else if (!strcmp(argv[i], "--rounds"))
            rounds = (cl_uint)v;
        else if (!strcmp(argv[i], "--mask"))
            mask = (cl_uint)v;
        else if (!strcmp(argv[i], "--launches"))
            launches = (int)v;
    }
    if (argc % 2 == 0 || mi < 1 || mi > 512 || launches < 1 || launches > MOST_LAUNCHES) {
        fprintf(stderr, "Usage: lists [--items MI] [--rounds N] [--mask M] [--launches N]\n");
        return 2;
    }
    cl_platform_id platform;
    cl_device_id device;
    cl_int err;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context ctx = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    check(err, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(ctx, device, NULL, &err);
    check(err, "clCreateCommandQueueWithProperties");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(ctx, 1, &text, NULL, &err);
    check(err, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel keep = clCreateKernel(program, "keep", &err);
    check(err, "clCreateKernel");
    const size_t items = mi << 20;
    cl_mem list = make_buffer(ctx, items * sizeof(cl_uint)), counter = make_buffer(ctx, sizeof n);
    check(clSetKernelArg(keep, 0, sizeof rounds, &rounds), "clSetKernelArg");
    check(clSetKernelArg(keep, 1, sizeof mask, &mask), "clSetKernelArg");
    check(clSetKernelArg(keep, 2, sizeof list, &list), "clSetKernelArg");
    check(clSetKernelArg(keep, 3, sizeof counter, &counter), "clSetKernelArg");

    static double ms[MOST_LAUNCHES];
    double sum = 0;
    for (int i = 0; i < launches; i++)
        sum += ms[i] = launch_ms(queue, keep, counter, items, &n);
    const double first = ms[0];
    qsort(ms, (size_t)launches, sizeof *ms, compare);
    printf("{\"counted\": %u, \"median_ms\": %.3f, \"mean_ms\": %.3f, \"first_ms\": %.3f, \"least_ms\": %.3f}\n", n,
           ms[launches / 2], sum / launches, first, ms[0]);
    return 0;
}
