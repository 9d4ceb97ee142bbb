/* SPDX-License-Identifier: MIT */
/* What a launch has written on several devices is copied to a buffer that has been on one alone. */
#include "plain.h"

enum { N = 40000 };

static const char source[] =
    "__kernel void put(__global uint *v, uint x) { v[get_global_id(0)] = x * get_global_id(0); }\n";

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "put");
    cl_mem a = buffer(CL_MEM_READ_WRITE, N * 4, NULL), b = buffer(CL_MEM_READ_WRITE, N * 4, NULL);
    SET(k, a, 7);
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, N * 4, 0, NULL, NULL));
    show_buffer("copied", queue, b, 0, N * 4);
    return FINISH(a, b, k, p);
}
