/* SPDX-License-Identifier: MIT */
/* A user event is made while bytes lie on other devices, which brings them home before all that comes later; and then
 * small writes follow, before it has a status. */
#include "plain.h"

static const char source[] = "__kernel void add(__global uint *v, uint by) { v[get_global_id(0)] += by; }\n";

int main(void)
{
    enum { N = 1 << 20 };
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), c = buffer(CL_MEM_READ_WRITE, 4096, NULL);
    fill_words(host, N, 3);
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (int r = 0; r < 5; r++) {
        SET(k, b, (cl_uint)r);
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        cl_event user = new_user_event();
        for (int i = 0; i < 4; i++)
            CL(clEnqueueWriteBuffer(queue, c, CL_FALSE, 1024 * (size_t)i, 1024, host, 0, NULL, NULL));
        CL(clFinish(queue));
        end_user_event(user);
    }
    show_buffer("b", queue, b, 0, sizeof host);
    return FINISH(b, c, k, p);
}
