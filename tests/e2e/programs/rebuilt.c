/* SPDX-License-Identifier: MIT */
/* Once a queue is finished nothing of a launch is left: its program can be built anew at once. */
#include "plain.h"

enum { ROUNDS = 200, N = 1024 };

int main(void)
{
    const uint32_t zero = 0;
    int refused = 0, referred = 0;
    start(0);
    cl_program p = build("__kernel void add(__global uint *v) { v[get_global_id(0)] += 1u; }\n", "");
    cl_mem m = buffer(CL_MEM_READ_WRITE, N * 4, NULL);
    CL(clEnqueueFillBuffer(queue, m, &zero, 4, 0, N * 4, 0, NULL, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        cl_uint references = 0;
        refused += clBuildProgram(p, 1, &device, "", NULL, NULL) != CL_SUCCESS;
        cl_kernel k = kernel_of(p, "add");
        set_mem(k, 0, m);
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clReleaseKernel(k));
        CL(clFinish(queue));
        CL(clGetProgramInfo(p, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL));
        referred += references != 1;
    }
    printf("refused %d, referred to %d\n", refused, referred);
    show_buffer("added", queue, m, 0, N * 4);
    CL(clReleaseMemObject(m));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
