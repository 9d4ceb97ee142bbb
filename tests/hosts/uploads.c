/* SPDX-License-Identifier: MIT */
/* Kernels in several queues read one new buffer, whose contents came with it: each finds them. */
#include "tests/e2e/programs/plain.h"

enum { QUEUES = 4, N = 262144, ROUNDS = 40 };

int main(void)
{
    static const char *text = "kernel void last(global const uint *in, uint n, global uint *out) { *out = in[n - 1]; }";
    static cl_uint values[N];
    cl_command_queue q[QUEUES];
    cl_kernel k[QUEUES];
    cl_mem out[QUEUES];
    start(0);
    for (unsigned i = 0; i < QUEUES; i++) {
        q[i] = new_queue(0);
        out[i] = buffer(CL_MEM_READ_WRITE, sizeof(cl_uint), NULL);
        k[i] = kernel_of(build(text, ""), "last");
        SET_FROM(1, k[i], N, out[i]);
    }
    for (cl_uint round = 1; round <= ROUNDS; round++) {
        values[N - 1] = round;
        cl_mem in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof values, values);
        for (unsigned i = 0; i < QUEUES; i++) {
            set_mem(k[i], 0, in);
            launch(q[i], k[i], 1, 1, 0, NULL, NULL);
            CL(clFlush(q[i]));
        }
        for (unsigned i = 0; i < QUEUES; i++) {
            cl_uint got = 0;
            CL(clEnqueueReadBuffer(q[i], out[i], CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
            if (got != round) {
                printf("round %u: queue %u read %u\n", round, i, got);
                return 1;
            }
        }
        CL(clReleaseMemObject(in));
    }
    return 0;
}
