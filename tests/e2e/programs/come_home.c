/* SPDX-License-Identifier: MIT */
/* A user event is made while bytes lie on other devices, which brings them home before all that comes later; and then
 * small writes follow, before it has a status. */
#include "plain.h"

static const char source[] = "__kernel void add(__global uint *v, uint by) { v[get_global_id(0)] += by; }\n";

int main(void)
{
    enum { N = 1 << 20 };
    cl_int err;
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), c = buffer(CL_MEM_READ_WRITE, 4096, NULL);
    fill_words(host, N, 3);
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (int r = 0; r < 5; r++) {
        set_mem(k, 0, b);
        set_uint(k, 1, (cl_uint)r);
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        cl_event user;
        MADE(user, clCreateUserEvent(context, &err));
        for (int i = 0; i < 4; i++)
            CL(clEnqueueWriteBuffer(queue, c, CL_FALSE, 1024 * (size_t)i, 1024, host, 0, NULL, NULL));
        CL(clFinish(queue));
        CL(clSetUserEventStatus(user, CL_COMPLETE));
        CL(clReleaseEvent(user));
    }
    show_buffer("b", queue, b, 0, sizeof host);
    RELEASE(b, c, k, p);
    finish();
    return 0;
}
