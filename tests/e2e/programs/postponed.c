/* SPDX-License-Identifier: MIT */
/* Many short launches behind one that waits for a user event, which the application completes only when all have been
 * enqueued; by a thread that has made short launches in that queue before. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 1024, BEFORE = 40, BEHIND = 1000, ROUNDS = 4 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static void launches(cl_kernel k, int n, cl_event after)
{
    for (int i = 0; i < n; i++) {
        set_uint(k, 1, (cl_uint)i);
        launch(queue, k, ITEMS, LOCAL, i == 0 && after ? 1 : 0, i == 0 && after ? &after : NULL, NULL);
    }
}

int main(void)
{
    static uint32_t v[ITEMS] = {1};
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    set_mem(k, 0, m);
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 10; i++) {
            launches(k, BEFORE, NULL);
            CL(clFinish(queue));
        }
        launches(k, BEFORE, NULL);
        cl_event go;
        MADE(go, clCreateUserEvent(context, &err));
        launches(k, BEHIND, go);
        CL(clSetUserEventStatus(go, CL_COMPLETE));
        CL(clReleaseEvent(go));
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
        printf("%u %u\n", v[0], v[ITEMS - 1]);
    }
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
