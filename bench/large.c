/* SPDX-License-Identifier: MIT */
/* Two buffers that fill a memory and are computed there, so that only kernels, and what these need, take time.
 *   bench_large stencil|vectors MIB STEPS [waits]
 * MIB is what both buffers have together. A step reads one and writes the other. One is made before the clock runs; the
 * others are enqueued at once, or, with `waits`, each is waited for. Prints a line of JSON: milliseconds of a step, and
 * the buffers' bytes over that time. Exits 1 if one of the numbers looked at is wrong. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

enum { WIDTH = 4096, GROUP = 256, PLACES = 64 };

/* Numbers that grow evenly from one to the next: a step makes three times as much of each, by either kernel. */
static const char source[] = "__kernel void begin(__global uint *a)\n"
                             "{\n"
                             "    const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
                             "    a[i] = (uint)i * 2654435761u;\n"
                             "}\n"
                             "__kernel void stencil(__global const uint *a, __global uint *b)\n"
                             "{\n"
                             "    const size_t w = get_global_size(0), y = get_global_id(1);\n"
                             "    const size_t i = y * w + get_global_id(0);\n"
                             "    uint sum = a[i] * 3;\n"
                             "    if (y > 0 && y + 1 < get_global_size(1))\n"
                             "        sum = a[i] + a[i - w] + a[i + w];\n"
                             "    b[i] = sum;\n"
                             "}\n"
                             "__kernel void vectors(__global const uint *a, __global uint *b)\n"
                             "{\n"
                             "    const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
                             "    b[i] = a[i] * 3;\n"
                             "}\n";

static bool is_right(const struct plain *p, cl_mem m, size_t numbers, long steps)
{
    uint32_t factor = 2654435761u, is[2 * WIDTH];
    for (long s = 0; s < steps; s++)
        factor *= 3;
    for (size_t k = 0; k <= PLACES; k++) { /* both sides of where parts may meet, and both ends */
        const size_t rows = numbers / WIDTH, row = rows * k / PLACES,
                     first = row > rows - 2 ? rows - 2
                             : row          ? row - 1
                                            : 0;
        plain_check(clEnqueueReadBuffer(p->queue, m, CL_TRUE, first * WIDTH * 4, sizeof is, is, 0, NULL, NULL), "read");
        for (size_t i = 0; i < 2 * WIDTH; i++) {
            const uint32_t right = (uint32_t)(first * WIDTH + i) * factor;
            if (is[i] != right) {
                fprintf(stderr, "bench_large: number %zu: %u is wrong, %u is right\n", first * WIDTH + i, is[i], right);
                return false;
            }
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const long mib = argc > 3 ? strtol(argv[2], NULL, 10) : 0, steps = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    const bool waits = argc > 4 && strcmp(argv[4], "waits") == 0;
    if (mib < 1 || steps < 1 || argc > 4 + waits || (strcmp(argv[1], "stencil") && strcmp(argv[1], "vectors"))) {
        fputs("Usage: bench_large stencil|vectors MIB STEPS [waits]\n", stderr);
        return 2;
    }
    const struct plain p = plain_open("bench_large", source);
    const size_t rows = ((size_t)mib << 19) / (4 * WIDTH), bytes = rows * WIDTH * 4;
    const size_t global[2] = {WIDTH, rows}, local[2] = {GROUP, 1};
    cl_mem m[2] = {plain_buffer(&p, bytes), plain_buffer(&p, bytes)};
    cl_kernel begin = plain_kernel(&p, "begin"), step = plain_kernel(&p, argv[1]);
    plain_check(clSetKernelArg(begin, 0, sizeof(cl_mem), &m[0]), "clSetKernelArg");
    plain_check(clEnqueueNDRangeKernel(p.queue, begin, 2, NULL, global, local, 0, NULL, NULL), "a launch");
    double since = 0;
    for (long s = 0; s <= steps; s++) {
        plain_check(clSetKernelArg(step, 0, sizeof(cl_mem), &m[s % 2]), "clSetKernelArg");
        plain_check(clSetKernelArg(step, 1, sizeof(cl_mem), &m[1 - s % 2]), "clSetKernelArg");
        plain_check(clEnqueueNDRangeKernel(p.queue, step, 2, NULL, global, local, 0, NULL, NULL), "a launch");
        if (waits || s == 0 || s == steps)
            plain_check(clFinish(p.queue), "clFinish");
        if (s == 0)
            since = plain_now_ms();
    }
    const double ms = (plain_now_ms() - since) / (double)steps;
    printf("{\"total_ms\": %.3f, \"gb_per_s\": %.3f}\n", ms, 2e-6 * (double)bytes / ms);
    return is_right(&p, m[1 - steps % 2], rows * WIDTH, steps + 1) ? 0 : 1;
}
