/* SPDX-License-Identifier: MIT */
/* An application that does the same again and again: `steady ITERATIONS`. Asks for the platform's profile before each
 * iteration, by which a driver's log can tell them apart. */
#include "plain.h"

enum { SMALL = 1024, LARGE = 256 * 1024, LAUNCHES = 20 };

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint i = get_global_id(0); out[i] = in[i] * 3u + k; }\n"
                             "__kernel void last(__global const uint *in, __global uint *out)\n"
                             "{ uint i = get_global_id(0); out[i] = in[i] + 1u; }\n";

static uint32_t host[LARGE];

/* Of a buffer as large as the kernels' range, and of one that is larger. */
static void iterate(cl_kernel step, cl_kernel last, const cl_mem m[3])
{
    cl_event e;
    CL(clEnqueueWriteBuffer(queue, m[0], CL_FALSE, 0, SMALL * 4, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, m[1], CL_TRUE, 0, SMALL * 4, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, m[2], CL_FALSE, 0, LARGE * 4, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, m[2], CL_TRUE, 4, LARGE, host, 0, NULL, NULL));
    for (cl_uint n = 0; n < LAUNCHES; n++) {
        SET(step, m[n % 2], m[1 - n % 2], n);
        launch(queue, step, SMALL, 64, 0, NULL, NULL);
    }
    CL(clEnqueueCopyBuffer(queue, m[0], m[2], 0, 64, SMALL * 4, 0, NULL, NULL));
    SET(last, m[0], m[2]);
    launch(queue, last, SMALL, 0, 0, NULL, &e);
    wait_for(e);
    CL(clEnqueueReadBuffer(queue, m[2], CL_FALSE, 0, SMALL * 4, host, 0, NULL, NULL));
    CL(clFinish(queue));
    CL(clEnqueueReadBuffer(queue, m[1], CL_TRUE, 0, SMALL * 4, host, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, m[2], CL_TRUE, 0, LARGE * 4, host, 0, NULL, NULL));
}

int main(int argc, char **argv)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel step = kernel_of(p, "advance"), last = kernel_of(p, "last");
    cl_mem m[3];
    for (int i = 0; i < 3; i++)
        m[i] = buffer(CL_MEM_READ_WRITE, (i < 2 ? SMALL : LARGE) * 4, NULL);
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        char text[64];
        CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
        iterate(step, last, m);
    }
    RELEASE_ALL(m);
    return FINISH(step, last, p);
}
