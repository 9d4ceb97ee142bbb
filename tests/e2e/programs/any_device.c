/* SPDX-License-Identifier: MIT */
/* What an application sees that asks for a GPU, and takes any device where there is none: whether there was one, how
 * many compute units it gets, and that they compute. */
#include "plain.h"

enum { N = 1 << 12 };

int main(void)
{
    cl_int err;
    cl_uint n = 0, units = 0;
    uint32_t words[N];
    CL(clGetPlatformIDs(1, &platform, NULL));
    for (int i = 0; i < 2; i++) {
        err = clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, &n);
        printf("GPU: %d\n", err);
    }
    if (err)
        CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &n));
    CL(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    printf("units: %u\n", units);
    context = new_context();
    queue = new_queue(0);
    fill_words(words, N, 7);
    cl_mem m = buffer_of(words, sizeof words);
    cl_program p = build("__kernel void grow(__global uint *v) { v[get_global_id(0)] *= 3u; }", "");
    cl_kernel k = kernel_of(p, "grow");
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("grown", queue, m, 0, sizeof words);
    return FINISH(k, p, m);
}
