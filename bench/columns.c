/* SPDX-License-Identifier: MIT */
/* A kernel whose work-items each go down a column of a picture and look at the columns beside it, again and again from
 * one buffer into the other, as an application's clock shows it: run it plain and under gpusparc, and compare.
 *   columns [--width N] [--height N] [--launches N] [--behind N]
 * Every launch is waited for; with --behind, only every so many. Prints one line of JSON: a hash over the picture; of
 * the launches the median and the mean in milliseconds, the first, the least, and what all of them took. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

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

/* Over the picture's first words, which the first device has made, and its last, which the last has. */
static uint64_t hash_of(cl_command_queue queue, cl_mem m, size_t words)
{
    static cl_uint v[LOOKED_AT];
    const size_t n = words < LOOKED_AT ? words : LOOKED_AT;
    uint64_t hash = 0;
    for (int end = 0; end < 2; end++) {
        plain_check(clEnqueueReadBuffer(queue, m, CL_TRUE, end ? (words - n) * 4 : 0, n * 4, v, 0, NULL, NULL),
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
    const struct plain app = plain_open("columns", source);
    cl_kernel begin = plain_kernel(&app, "begin"), down = plain_kernel(&app, "down");
    const cl_mem m[2] = {plain_buffer(&app, width * height * 4), plain_buffer(&app, width * height * 4)};
    const cl_uint sizes[] = {(cl_uint)width, (cl_uint)height};
    const size_t all[] = {width, height}, columns = width, group = GROUP;
    plain_check(clSetKernelArg(begin, 0, sizeof *m, m), "clSetKernelArg");
    plain_check(clSetKernelArg(begin, 1, sizeof *sizes, sizes), "clSetKernelArg");
    plain_check(clSetKernelArg(down, 2, sizeof *sizes, sizes), "clSetKernelArg");
    plain_check(clSetKernelArg(down, 3, sizeof *sizes, sizes + 1), "clSetKernelArg");
    plain_check(clEnqueueNDRangeKernel(app.queue, begin, 2, NULL, all, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    plain_check(clFinish(app.queue), "clFinish");

    static double ms[MOST_LAUNCHES];
    unsigned long n = 0, since = 0;
    const double start = plain_now_ms();
    double last = start;
    for (unsigned long i = 0; i < launches; i++) {
        plain_check(clSetKernelArg(down, 0, sizeof *m, m + i % 2), "clSetKernelArg");
        plain_check(clSetKernelArg(down, 1, sizeof *m, m + (i + 1) % 2), "clSetKernelArg");
        plain_check(clEnqueueNDRangeKernel(app.queue, down, 1, NULL, &columns, &group, 0, NULL, NULL),
                    "clEnqueueNDRangeKernel");
        if (++since < behind && i + 1 < launches)
            continue;
        plain_check(clFinish(app.queue), "clFinish");
        const double now = plain_now_ms();
        ms[n++] = (now - last) / (double)since;
        last = now;
        since = 0;
    }
    const double sum = last - start, first = ms[0];
    qsort(ms, n, sizeof *ms, plain_compare);
    printf("{\"hash\": \"%016" PRIx64 "\", \"median_ms\": %.3f, \"mean_ms\": %.3f, \"first_ms\": %.3f, "
           "\"least_ms\": %.3f, \"all_ms\": %.1f}\n",
           hash_of(app.queue, m[launches % 2], width * height), ms[n / 2], sum / (double)launches, first, ms[0], sum);
    return 0;
}
