/* SPDX-License-Identifier: MIT */
/* Jobs of one long launch and one small blocking read each: `launch_and_read JOBS`. Asks for the platform's profile
 * before each job, by which a driver's log can tell them apart. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 8000 * LOCAL };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

int main(int argc, char **argv)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        char text[64];
        uint32_t word;
        CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
        set_uint(k, 1, (cl_uint)n);
        launch(queue, k, ITEMS, LOCAL, 0, NULL, NULL);
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 64, sizeof word, &word, 0, NULL, NULL));
    }
    return FINISH(m, k, p);
}
