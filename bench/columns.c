/* SPDX-License-Identifier: MIT */
/* A kernel whose work-items each go down a column of a picture and look at the columns beside it, again and again from
 * one buffer into the other, as an application's clock shows it: run it plain and under gpusparc, and compare.
 *   columns [--width N] [--height N] [--launches N] [--behind N]
 * Every launch is waited for; with --behind, only every so many. Prints one line of JSON: a hash over the picture; of
 * the launches the median and the mean in milliseconds, the first, the least, and what all of them took. */
#include <CL/cl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP = 64, MOST_LAUNCHES = 10000, LOOKED_AT = 1 << 20 };

static const char source[] =
    "__kernel void begin(__global uint *out, uint width)\n"
    "{\n"
    "    size_t x = get_global_id(0), y = get_global_id(1);\n"
    "    out[y * width + x] = (uint)(x * 2654435761u ^ y * 40503u);\n"
    "}\n"
    "__kernel void down(__global const uint *in, __global uint *out, uint width, uint height)\n"
    "{\n"
    "    uint x = get_global_id(0), left = x ? x - 1 : 0, right = min(x + 1, width - 1), sum = x;\n"
    "    for (uint y = 0; y < height; y++) {\n"
    "        uint row = y * width;\n"
    "        sum = sum * 3u + in[row + left] + in[row + x] + in[row + right];\n"
    "        out[row + x] = sum;\n"
    "    }\n"
    "}\n";

static void check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "columns: %s: error %d\n", what, err);
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

/* Over the picture's first words, which the first device has made, and its last, which the last has. */
static uint64_t hash_of(cl_command_queue queue, cl_mem m, size_t words)
{
    static cl_uint v[LOOKED_AT];
    const size_t n = words < LOOKED_AT ? words : LOOKED_AT;
    uint64_t hash = 0;
    for (int end = 0; end < 2; end++) {
        check(clEnqueueReadBuffer(queue, m, CL_TRUE, end ? (words - n) * 4 : 0, n * 4, v, 0, NULL, NULL),
              "clEnqueueReadBuffer");
        for (size_t i = 0; i < n; i++)
            hash = (hash ^ v[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

int main(int argc, char **argv)
{
    unsigned long width = 131072, height = 2048, launches = 48, behind = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const unsigned long v = strtoul(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--width"))
            width = v;
        else if (!strcmp(argv[i], "--height"))
            height = v;
        else if (!strcmp(argv[i], "--launches"))
            launches = v;
        else if (!strcmp(argv[i], "--behind"))
            behind = v;
    }
    if (argc % 2 == 0 || width < GROUP || width % GROUP || height < 1 || width * height > 1ul << 31 || launches < 1 ||
        launches > MOST_LAUNCHES || behind < 1) {
        fprintf(stderr, "Usage: columns [--width N] [--height N] [--launches N] [--behind N]\n"
                        "  the width in multiples of 64\n");
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
    cl_kernel begin = clCreateKernel(program, "begin", &err);
    check(err, "clCreateKernel");
    cl_kernel down = clCreateKernel(program, "down", &err);
    check(err, "clCreateKernel");
    cl_mem m[2];
    for (int i = 0; i < 2; i++) {
        m[i] = clCreateBuffer(ctx, CL_MEM_READ_WRITE, width * height * 4, NULL, &err);
        check(err, "clCreateBuffer");
    }
    const cl_uint sizes[] = {(cl_uint)width, (cl_uint)height};
    const size_t all[] = {width, height}, columns = width, group = GROUP;
    check(clSetKernelArg(begin, 0, sizeof *m, m), "clSetKernelArg");
    check(clSetKernelArg(begin, 1, sizeof *sizes, sizes), "clSetKernelArg");
    check(clSetKernelArg(down, 2, sizeof *sizes, sizes), "clSetKernelArg");
    check(clSetKernelArg(down, 3, sizeof *sizes, sizes + 1), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, begin, 2, NULL, all, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");

    static double ms[MOST_LAUNCHES];
    unsigned long n = 0, since = 0;
    const double start = now_ms();
    double last = start;
    for (unsigned long i = 0; i < launches; i++) {
        check(clSetKernelArg(down, 0, sizeof *m, m + i % 2), "clSetKernelArg");
        check(clSetKernelArg(down, 1, sizeof *m, m + (i + 1) % 2), "clSetKernelArg");
        check(clEnqueueNDRangeKernel(queue, down, 1, NULL, &columns, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
        if (++since < behind && i + 1 < launches)
            continue;
        check(clFinish(queue), "clFinish");
        const double now = now_ms();
        ms[n++] = (now - last) / (double)since;
        last = now;
        since = 0;
    }
    const double sum = last - start, first = ms[0];
    qsort(ms, n, sizeof *ms, compare);
    printf("{\"hash\": \"%016" PRIx64 "\", \"median_ms\": %.3f, \"mean_ms\": %.3f, \"first_ms\": %.3f, "
           "\"least_ms\": %.3f, \"all_ms\": %.1f}\n",
           hash_of(queue, m[launches % 2], width * height), ms[n / 2], sum / (double)launches, first, ms[0], sum);
    return 0;
}
