/* SPDX-License-Identifier: MIT */
/* A buffer that nobody has written before a kernel writes some of the bytes that it might: the others may be anything,
 * and are neither printed here nor taken for wrong by --verify. */
#include "plain.h"

enum { N = 4096, MOST = 16 };

static const char source[] =
    "__kernel void rows(__global uint *v, __global const uint *n)\n"
    "{ uint i = get_global_id(0); for (uint j = 0; j < min(n[i], 16u); j++) v[i * 16 + j] = i * 7u + j; }\n";

int main(void)
{
    static uint32_t n[N], v[N * MOST];
    uint64_t sum = 0;
    start(0);
    fill_words(n, N, 5);
    for (int i = 0; i < N; i++)
        n[i] %= 20;
    cl_kernel k = kernel_of(build(source, ""), "rows");
    cl_mem counts = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof n, n);
    /* The bytes that the first buffer leaves behind on its device make those of the second other than 0. */
    for (int round = 0; round < 2; round++) {
        cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
        SET(k, m, counts);
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < n[i] && j < MOST; j++)
                sum = sum * 31 + v[i * MOST + j];
        CL(clReleaseMemObject(m));
    }
    printf("written: %" PRIx64 "\n", sum);
    return FINISH(counts);
}
