/* SPDX-License-Identifier: MIT */
/* A launch that can't begin yet, as it waits for a user event; then one that can, after it. What each answers, and what
 * the two have done. */
#include "plain.h"

enum { N = 4096 };

static const char source[] = "__kernel void add(__global uint *v, uint x) { v[get_global_id(0)] += x; }\n";

int main(void)
{
    static uint32_t zero[N], host[N];
    const size_t global = N, local = 64;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem m = buffer(CL_MEM_USE_HOST_PTR, sizeof zero, zero); /* by no command: that could have a gate, too */
    cl_event user = new_user_event();
    SET(k, m, 1);
    printf("waits: error %d\n", clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 1, &user, NULL));
    CL(clSetUserEventStatus(user, CL_COMPLETE));
    CL(clFinish(queue));
    set_uint(k, 1, 10);
    printf("next: error %d\n", clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (size_t i = 1; i < N; i++)
        if (host[i] != host[0])
            printf("word %zu: %u\n", i, host[i]);
    printf("sum %u\n", host[0]);
    return FINISH(user, m, k, p);
}
