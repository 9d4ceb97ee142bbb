/* SPDX-License-Identifier: MIT */
/* A search that puts what it finds behind a list's end (rule 13 of docs/coherence.md), as an application's clock shows
 * it: run it plain and under gpusparc, and compare.
 *   lists [--items MI] [--rounds N] [--mask M] [--launches N] [--reads N] [--beside 0|1]
 * Each of so many Mi work-items computes for N rounds; one of M + 1 (a power of two) keeps its number. A launch is
 * timed with the write that resets the counter and the read of what was counted; with --reads, so many launches of a
 * kernel that reads the list stand between the two; with --beside the counter lies in the list's buffer. Prints one
 * line of JSON: what was counted, a hash over the list, and a sum over what was read, both whatever the order; the
 * median and the mean of the launches in milliseconds, and the first and the least. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

enum { GROUP = 256, MOST_LAUNCHES = 1001, READERS = 64 * 1024 };

static const char source[] =
    "__kernel void keep(uint rounds, uint mask, __global uint *list, __global uint *n)\n"
    "{\n"
    "    uint v = get_global_id(0);\n"
    "    for (uint r = 0; r < rounds; r++)\n"
    "        v = v * 1664525u + 1013904223u;\n"
    "    if ((v >> 8 & mask) == 0)\n"
    "        list[atomic_inc(n)] = get_global_id(0);\n"
    "}\n"
    "__kernel void keep_beside(uint rounds, uint mask, __global uint *list)\n"
    "{\n"
    "    uint v = get_global_id(0);\n"
    "    for (uint r = 0; r < rounds; r++)\n"
    "        v = v * 1664525u + 1013904223u;\n"
    "    if ((v >> 8 & mask) == 0)\n"
    "        list[1 + atomic_inc(list)] = get_global_id(0);\n"
    "}\n"
    "__kernel void take(__global const uint *list, __global const uint *n, __global uint *out, uint from)\n"
    "{\n"
    "    uint i = get_global_id(0), sum = 0;\n"
    "    for (uint k = i; k < *n; k += get_global_size(0))\n"
    "        sum += list[from + k] * 2654435761u ^ list[from + k] >> 7;\n"
    "    out[i] = sum;\n"
    "}\n";

/* Sums over the words: they tell nothing of the order. */
struct sums {
    cl_uint plain;
    uint64_t hash;
};

static struct sums sums_of(cl_command_queue queue, cl_mem m, size_t from, size_t n)
{
    cl_uint *words = malloc(n * sizeof *words + 1);
    struct sums sums = {0};
    if (!words)
        plain_check(CL_OUT_OF_HOST_MEMORY, "malloc");
    if (n)
        plain_check(
            clEnqueueReadBuffer(queue, m, CL_TRUE, from * sizeof *words, n * sizeof *words, words, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (words[i] + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        sums.hash += x ^ x >> 32;
        sums.plain += words[i];
    }
    free(words);
    return sums;
}

static double launch_ms(cl_command_queue queue, cl_kernel keep, cl_kernel take, int reads, cl_mem counter, size_t items,
                        cl_uint *n)
{
    const size_t group = GROUP, readers = READERS;
    const cl_uint zero = 0;
    const double begin = plain_now_ms();
    plain_check(clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL),
                "clEnqueueWriteBuffer");
    plain_check(clEnqueueNDRangeKernel(queue, keep, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    for (int i = 0; i < reads; i++)
        plain_check(clEnqueueNDRangeKernel(queue, take, 1, NULL, &readers, &group, 0, NULL, NULL),
                    "clEnqueueNDRangeKernel");
    plain_check(clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof *n, n, 0, NULL, NULL), "clEnqueueReadBuffer");
    return plain_now_ms() - begin;
}

int main(int argc, char **argv)
{
    size_t mi = 64;
    cl_uint rounds = 1500, mask = 7, n = 0, beside = 0;
    int launches = 24, reads = 0;
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
        else if (!strcmp(argv[i], "--reads"))
            reads = (int)v;
        else if (!strcmp(argv[i], "--beside"))
            beside = v != 0;
    }
    if (argc % 2 == 0 || mi < 1 || mi > 512 || launches < 1 || launches > MOST_LAUNCHES) {
        fprintf(stderr,
                "Usage: lists [--items MI] [--rounds N] [--mask M] [--launches N] [--reads N] [--beside 0|1]\n");
        return 2;
    }
    const struct plain app = plain_open("lists", source);
    cl_kernel keep = plain_kernel(&app, beside ? "keep_beside" : "keep"), take = plain_kernel(&app, "take");
    const size_t items = mi << 20;
    cl_mem list = plain_buffer(&app, (items + beside) * sizeof(cl_uint));
    cl_mem counter = beside ? list : plain_buffer(&app, sizeof n);
    cl_mem out = plain_buffer(&app, READERS * sizeof(cl_uint));
    plain_check(clSetKernelArg(keep, 0, sizeof rounds, &rounds), "clSetKernelArg");
    plain_check(clSetKernelArg(keep, 1, sizeof mask, &mask), "clSetKernelArg");
    plain_check(clSetKernelArg(keep, 2, sizeof list, &list), "clSetKernelArg");
    if (!beside)
        plain_check(clSetKernelArg(keep, 3, sizeof counter, &counter), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 0, sizeof list, &list), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 1, sizeof counter, &counter), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 2, sizeof out, &out), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 3, sizeof beside, &beside), "clSetKernelArg");

    static double ms[MOST_LAUNCHES];
    double sum = 0;
    for (int i = 0; i < launches; i++)
        sum += ms[i] = launch_ms(app.queue, keep, take, reads, counter, items, &n);
    const double first = ms[0];
    qsort(ms, (size_t)launches, sizeof *ms, plain_compare);
    const cl_uint read = reads ? sums_of(app.queue, out, 0, READERS).plain : 0;
    printf("{\"counted\": %u, \"hash\": \"%016" PRIx64 "\", \"read\": %u, \"median_ms\": %.3f, \"mean_ms\": %.3f, "
           "\"first_ms\": %.3f, \"least_ms\": %.3f}\n",
           n, sums_of(app.queue, list, beside, n).hash, read, ms[launches / 2], sum / launches, first, ms[0]);
    return 0;
}
