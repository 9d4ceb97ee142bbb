/* SPDX-License-Identifier: MIT */
/* A read behind a launch that takes some 0.1 s, half of which the driver refuses: the other half is still to come. Once
 * the read has failed nothing is written to the host's memory any more. */
#include "plain.h"

enum { N = 16384, LONG = 64 };

static const char source[] = "__kernel void linger(__global uint *v, uint rounds)\n"
                             "{ uint x = get_global_id(0);\n"
                             "  for (uint k = 0; k < rounds; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n";

int main(void)
{
    static uint32_t host[N];
    cl_event e;
    size_t late = 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "linger");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    memset(host, 1, sizeof host);
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    SET(k, m, 1500000);
    launch(queue, k, LONG, LONG, 0, NULL, NULL);
    const cl_int err = clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof host, host, 0, NULL, &e);
    if (!err) {
        clWaitForEvents(1, &e);
        CL(clReleaseEvent(e));
    }
    memset(host, 2, sizeof host);
    CL(clFinish(queue));
    for (size_t i = 0; i < N; i++)
        late += host[i] != 0x02020202;
    printf("%zu words came late\n", late);
    RELEASE(m, k, p);
    finish();
    return late != 0;
}
