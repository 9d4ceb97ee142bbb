/* SPDX-License-Identifier: MIT */
/* An application that enqueues all its launches and waits once.
 *   bench_async LAUNCHES ROUNDS [ITEMS]
 * Each launch has ITEMS work-items (4096; many more fill a GPU) of ROUNDS rounds each. Prints the launches, the
 * milliseconds from the first enqueue to the wait's end, and a checksum. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/plain.h"

enum { DEFAULT_ITEMS = 4096, GROUP = 64 };

static const char source[] = "kernel void churn(global uint *a, int rounds) {\n"
                             "    int i = get_global_id(0);\n"
                             "    uint x = a[i];\n"
                             "    for (int r = 0; r < rounds; r++)\n"
                             "        x = (x ^ (x >> 15)) * 2654435761u + r;\n"
                             "    a[i] = x;\n"
                             "}\n";

int main(int argc, char **argv)
{
    const long launches = argc > 1 ? strtol(argv[1], NULL, 10) : 0, rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const long wanted = argc > 3 ? strtol(argv[3], NULL, 10) : DEFAULT_ITEMS;
    if (launches < 1 || rounds < 1 || rounds > INT32_MAX || wanted < GROUP || wanted % GROUP || wanted > INT32_MAX) {
        fprintf(stderr, "usage: bench_async LAUNCHES ROUNDS [ITEMS]: ITEMS a multiple of %d\n", GROUP);
        return 2;
    }
    struct plain p = plain_open("bench_async", source);
    const size_t items = (size_t)wanted, group = GROUP, bytes = items * sizeof(cl_uint);
    cl_uint *host = malloc(bytes);
    if (!host) {
        fprintf(stderr, "bench_async: no memory for %ld work-items\n", wanted);
        return 1;
    }
    cl_mem a = plain_buffer(&p, bytes);
    cl_kernel k = plain_kernel(&p, "churn");
    const cl_int n = (cl_int)rounds;
    for (cl_uint i = 0; i < items; i++)
        host[i] = i * 2654435761u;
    plain_check(clSetKernelArg(k, 0, sizeof(cl_mem), &a), "clSetKernelArg");
    plain_check(clSetKernelArg(k, 1, sizeof n, &n), "clSetKernelArg");
    plain_check(clEnqueueWriteBuffer(p.queue, a, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
    const double begin = plain_now_ms();
    for (long i = 0; i < launches; i++)
        plain_check(clEnqueueNDRangeKernel(p.queue, k, 1, NULL, &items, &group, 0, NULL, NULL),
                    "clEnqueueNDRangeKernel");
    plain_check(clFinish(p.queue), "clFinish");
    const double all = plain_now_ms() - begin;
    plain_check(clEnqueueReadBuffer(p.queue, a, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueReadBuffer");
    uint64_t sum = 0;
    for (size_t i = 0; i < items; i++)
        sum = sum * 31 + host[i];
    printf("%ld launches, all in %.1f ms, checksum %016" PRIx64 "\n", launches, all, sum);
    free(host);
    return 0;
}
