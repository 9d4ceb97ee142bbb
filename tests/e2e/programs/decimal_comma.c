/* SPDX-License-Identifier: MIT */
/* A program whose user writes 1,5 for one and a half. */
#include "plain.h"

#include <locale.h>

enum { N = 1 << 12, BYTES = N * 4 };

static const char source[] =
    "__kernel void scale(__global float *v, float by) { v[get_global_id(0)] = v[get_global_id(0)] * by + 0.25f; }\n";

int main(void)
{
    static float v[N];
    if (!setlocale(LC_ALL, ""))
        return 1;
    start(0);
    cl_program p = build(source, "-DHALF=0.5f");
    cl_kernel k = kernel_of(p, "scale");
    cl_mem m = buffer_of(v, BYTES);
    for (float by = 0.5f; by < 4; by += 0.5f) {
        SET(k, m);
        CL(clSetKernelArg(k, 1, sizeof by, &by));
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, v, 0, NULL, NULL));
        printf("%.3f %.3f\n", (double)v[0], (double)v[N - 1]);
    }
    return FINISH(k, m, p);
}
