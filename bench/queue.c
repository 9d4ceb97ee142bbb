/* SPDX-License-Identifier: MIT */
/* A solver that enqueues all its steps and waits once: three kernels a step, each reads what the others wrote, the rows
 * at the cut included, and halves are exchanged.
 *   bench_queue LAUNCHES [ROWS]
 * Prints the launches, the milliseconds of enqueueing and of all, the microseconds a launch, and a checksum. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/plain.h"

enum { WIDTH = 64, GROUP = 64, DEFAULT_ROWS = 64 };

static const char source[] = "uint around(global const uint *a, int i, int n) {\n"
                             "    return a[max(i - 64, 0)] + 3 * a[i] + a[min(i + 64, n - 1)];\n"
                             "}\n"
                             "kernel void diffuse(global const uint *a, global uint *b, int n) {\n"
                             "    int i = get_global_id(0);\n"
                             "    b[i] = (around(a, i, n) >> 2) + b[i];\n"
                             "}\n"
                             "kernel void advect(global const uint *b, global uint *c, int n) {\n"
                             "    int i = get_global_id(0);\n"
                             "    c[i] = around(b, n - 1 - i, n) ^ i;\n"
                             "}\n"
                             "kernel void project(global uint *b, global const uint *c, global uint *a, int n) {\n"
                             "    int i = get_global_id(0);\n"
                             "    a[i] = around(c, i, n);\n"
                             "    b[n - 1 - i] = c[i];\n"
                             "}\n";

static void set_buffers(cl_kernel k, unsigned n, cl_mem *const *v, cl_int items)
{
    for (unsigned i = 0; i < n; i++)
        plain_check(clSetKernelArg(k, i, sizeof(cl_mem), v[i]), "clSetKernelArg");
    plain_check(clSetKernelArg(k, n, sizeof items, &items), "clSetKernelArg");
}

int main(int argc, char **argv)
{
    const long launches = argc > 1 ? strtol(argv[1], NULL, 10) : 0,
               rows = argc > 2 ? strtol(argv[2], NULL, 10) : DEFAULT_ROWS;
    if (launches < 1 || rows < 1 || rows > 1 << 20) {
        fprintf(stderr, "usage: bench_queue LAUNCHES [ROWS]\n");
        return 2;
    }
    struct plain p = plain_open("bench_queue", source);
    const size_t items = (size_t)rows * WIDTH, group = GROUP, bytes = items * sizeof(cl_uint);
    cl_mem a = plain_buffer(&p, bytes), b = plain_buffer(&p, bytes), c = plain_buffer(&p, bytes);
    cl_kernel k[3] = {plain_kernel(&p, "diffuse"), plain_kernel(&p, "advect"), plain_kernel(&p, "project")};
    set_buffers(k[0], 2, (cl_mem *[]){&a, &b}, (cl_int)items);
    set_buffers(k[1], 2, (cl_mem *[]){&b, &c}, (cl_int)items);
    set_buffers(k[2], 3, (cl_mem *[]){&b, &c, &a}, (cl_int)items);
    cl_uint *host = malloc(bytes);
    if (!host)
        return 1;
    for (size_t i = 0; i < items; i++)
        host[i] = (cl_uint)(i * 2654435761u);
    plain_check(clEnqueueWriteBuffer(p.queue, a, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
    plain_check(clEnqueueWriteBuffer(p.queue, b, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
    for (unsigned i = 0; i < 3; i++) /* compiled before the clock runs */
        plain_check(clEnqueueNDRangeKernel(p.queue, k[i], 1, NULL, &items, &group, 0, NULL, NULL), "a launch");
    plain_check(clFinish(p.queue), "clFinish");
    const double begin = plain_now_ms();
    for (long i = 0; i < launches; i++)
        plain_check(clEnqueueNDRangeKernel(p.queue, k[i % 3], 1, NULL, &items, &group, 0, NULL, NULL), "a launch");
    const double enqueued = plain_now_ms();
    plain_check(clFinish(p.queue), "clFinish");
    plain_check(clEnqueueReadBuffer(p.queue, a, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueReadBuffer");
    const double end = plain_now_ms();
    uint64_t sum = 0;
    for (size_t i = 0; i < items; i++)
        sum = sum * 31 + host[i];
    printf("%ld launches: enqueued in %.1f ms, all in %.1f ms, %.2f us a launch, checksum %016" PRIx64 "\n", launches,
           enqueued - begin, end - begin, 1000 * (end - begin) / (double)launches, sum);
    free(host);
    return 0;
}
