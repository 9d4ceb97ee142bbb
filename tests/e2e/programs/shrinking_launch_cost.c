/* SPDX-License-Identifier: MIT */
/* A factorisation: two kernels, each launch of a size of its own, waited for now and then. Prints how much CPU time a
 * launch takes this thread, in microseconds. */
#include "plain.h"

enum { N = 2048, WAIT = 64 };

static const char source[] =
    "__kernel void scale(__global float *m, int k)\n"
    "{ int i = get_global_id(0); if (i < 2048 - k) m[k * 2048 + i] *= 0.5f; }\n"
    "__kernel void take(__global float *m, int k)\n"
    "{ int i = get_global_id(0), j = get_global_id(1); m[j * 2048 + i] -= m[k * 2048 + i]; }\n";

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel scale = kernel_of(p, "scale"), take = kernel_of(p, "take");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof(float) * N * N, NULL);
    set_mem(scale, 0, m);
    set_mem(take, 0, m);
    const double begin_us = cpu_us();
    for (cl_uint k = 0; k + 1 < N; k++) {
        const size_t row = N - k, rest[2] = {row, row};
        set_uint(scale, 1, k);
        set_uint(take, 1, k);
        CL(clEnqueueNDRangeKernel(queue, scale, 1, NULL, &row, NULL, 0, NULL, NULL));
        CL(clEnqueueNDRangeKernel(queue, take, 2, NULL, rest, NULL, 0, NULL, NULL));
        if (k % WAIT == 0)
            CL(clFinish(queue));
    }
    CL(clFinish(queue));
    printf("%.1f\n", (cpu_us() - begin_us) / (2 * (N - 1)));
    return FINISH(m, scale, take, p);
}
