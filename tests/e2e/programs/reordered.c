/* SPDX-License-Identifier: MIT */
/* Launches the three kernels of a text (tests/e2e/ptx/sums.cl) that is built with -cl-fast-relaxed-math: `reordered
 * FILE`. */
#include "plain.h"

enum { N = 8192 };

static char text[1 << 16];

static void run(cl_program p, const char *name, cl_uint buffers)
{
    cl_kernel k = kernel_of(p, name);
    cl_mem m[4];
    for (cl_uint i = 0; i < buffers; i++)
        set_mem(k, i, m[i] = buffer(CL_MEM_READ_WRITE, 4 * (N + 64) * sizeof(float), NULL));
    if (strcmp(name, "grouped") == 0)
        CL(clSetKernelArg(k, buffers, 64 * sizeof(float), NULL));
    else
        set_uint(k, buffers, N);
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    for (cl_uint i = 0; i < buffers; i++)
        CL(clReleaseMemObject(m[i]));
    CL(clReleaseKernel(k));
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL;
    if (!f || !fread(text, 1, sizeof text - 1, f))
        return 1;
    fclose(f);
    start(0);
    cl_program p = build(text, "-cl-fast-relaxed-math");
    run(p, "strided", 2);
    run(p, "grouped", 2);
    run(p, "places", 4);
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
