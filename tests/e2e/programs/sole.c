/* SPDX-License-Identifier: MIT */
/* Rows of short launches as the samples do them, `sole TIMES LAUNCHES`: writes 8 KiB, waits; launches, waits; and
 * reads, which waits as well. With a third argument nothing waits but for an event of the read. Asks for the platform's
 * profile before each, by which a driver's log can tell them apart. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

int main(int argc, char **argv)
{
    uint32_t v[ITEMS] = {1};
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    set_mem(k, 0, m);
    for (long n = argc > 2 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        char text[64];
        CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
        CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, NULL));
        if (argc == 3)
            CL(clFinish(queue));
        for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
            set_uint(k, 1, (cl_uint)i);
            launch(queue, k, ITEMS, LOCAL, 0, NULL, NULL);
        }
        if (argc == 3) {
            CL(clFinish(queue));
            CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
            continue;
        }
        cl_event end;
        CL(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, &end));
        CL(clWaitForEvents(1, &end));
        CL(clReleaseEvent(end));
    }
    printf("%u %u\n", v[0], v[ITEMS - 1]);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
