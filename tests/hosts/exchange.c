/* SPDX-License-Identifier: MIT */
/* exchange [MIB [ROUNDS]]: each launch reads all of a buffer of so many MiB, the words of the launch before, for words
 * all over it: in two parts, however they are cut, each gives the other what that one lacks, so many MiB in all. Prints
 * the median of a launch in ms; ends with 1 where a word is wrong. */
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/programs/plain.h"

enum { MOST_ROUNDS = 101 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *text = "kernel void spread(global const uint *in, uint n, global uint *out)"
                              "{ uint i = get_global_id(0); out[i] = in[i * 2654435761u % n] + i; }";
    const size_t n = (size_t)(argc > 1 ? atoi(argv[1]) : 64) * 1024 * 1024 / sizeof(cl_uint), local = 64;
    const cl_uint rounds = argc > 2 ? (cl_uint)atoi(argv[2]) : 5, words = (cl_uint)n;
    cl_uint *values = malloc(n * sizeof *values), *want = malloc(n * sizeof *want), *next = malloc(n * sizeof *next);
    double took[MOST_ROUNDS];
    cl_mem mem[2];
    cl_int err;
    if (!values || !want || !next || rounds < 1 || rounds >= MOST_ROUNDS)
        return 2;
    start(0);
    for (cl_uint i = 0; i < words; i++)
        values[i] = want[i] = i;
    cl_kernel kernel = kernel_of(build(text, ""), "spread");
    for (int i = 0; i < 2; i++)
        MADE(mem[i], clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof *values, NULL, &err));
    CL(clEnqueueWriteBuffer(queue, mem[0], CL_TRUE, 0, n * sizeof *values, values, 0, NULL, NULL));
    CL(clSetKernelArg(kernel, 1, sizeof words, &words));
    for (cl_uint r = 0; r <= rounds; r++) { /* the first compiles, and finds what it reads at home */
        const double begin = now_ms();
        CL(clSetKernelArg(kernel, 0, sizeof *mem, &mem[r % 2]));
        CL(clSetKernelArg(kernel, 2, sizeof *mem, &mem[1 - r % 2]));
        CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &local, 0, NULL, NULL));
        CL(clFinish(queue));
        if (r)
            took[r - 1] = now_ms() - begin;
        for (cl_uint i = 0; i < words; i++)
            next[i] = want[i * 2654435761u % words] + i;
        cl_uint *const was = want;
        want = next;
        next = was;
    }
    CL(clEnqueueReadBuffer(queue, mem[1 - rounds % 2], CL_TRUE, 0, n * sizeof *values, values, 0, NULL, NULL));
    for (cl_uint i = 0; i < words; i++)
        if (values[i] != want[i]) {
            printf("word %u is %u, not %u\n", i, values[i], want[i]);
            return 1;
        }
    qsort(took, rounds, sizeof *took, compare);
    printf("%.1f\n", took[rounds / 2]);
    return 0;
}
