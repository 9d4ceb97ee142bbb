/* SPDX-License-Identifier: MIT */
/* A launch that the driver refuses must not lose what an earlier one left on the other devices. */
#include "plain.h"

enum { N = 4000 };

static const char source[] =
    "__kernel void set(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = i * k; }\n";

int main(void)
{
    static const uint32_t zero[N];
    const size_t odd = N - 1, local = 100, global = N;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "set");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof zero, NULL);
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof zero, zero, 0, NULL, NULL));
    set_mem(k, 0, m);
    set_uint(k, 1, 7);
    launch(queue, k, N, 100, 0, NULL, NULL);
    set_uint(k, 1, 9);
    printf("refused: %d\n", clEnqueueNDRangeKernel(queue, k, 1, NULL, &odd, &local, 0, NULL, NULL));
    show_buffer("kept", queue, m, 0, sizeof zero);
    CL(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    show_buffer("changed", queue, m, 0, sizeof zero);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
