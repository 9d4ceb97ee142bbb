/* SPDX-License-Identifier: MIT */
/* Launches that read an image through a sampler, behind one that takes long: meanwhile the application releases the
 * sampler, and makes others of another kind. "resampled kept" releases it at its end: what it prints then is right also
 * over a driver that lets go of a sampler which launches have yet to use (PoCL). */
#include "plain.h"

enum { W = 256, H = 128, LAUNCHES = 3, OTHERS = 40, ROUNDS = 4000 };

static const char source[] =
    "__kernel void slow(__global uint *v, uint rounds)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint k = 0; k < rounds; k++) x = x * 1664525u + k; v[i] = x; }\n"
    "__kernel void sampled(__read_only image2d_t in, sampler_t how, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); uint s = (uint)get_group_id(1);\n"
    "  for (int k = 0; k < 16; k++) s = s * 31u + read_imageui(in, how, (int2)(x + k, y - k)).x;\n"
    "  out[y * get_global_size(0) + x] = s; }\n";

int main(int argc, char **argv)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    static uint32_t host[W * H * 4];
    const size_t global[2] = {W, H}, local[2] = {8, 8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
    const bool kept = argc > 1 && strcmp(argv[1], "kept") == 0;
    cl_sampler others[OTHERS];
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel slow = kernel_of(p, "slow"), k = kernel_of(p, "sampled");
    cl_mem in, out = buffer(CL_MEM_READ_WRITE, W * H * sizeof(uint32_t), NULL);
    fill_words(host, W * H * 4, 1);
    MADE(in, clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &err));
    set_mem(slow, 0, out);
    set_uint(slow, 1, ROUNDS);
    set_mem(k, 0, in);
    set_mem(k, 2, out);
    for (int i = 0; i < LAUNCHES; i++) {
        cl_sampler how;
        MADE(how, clCreateSampler(context, CL_FALSE, i % 2 ? CL_ADDRESS_CLAMP : CL_ADDRESS_CLAMP_TO_EDGE,
                                  CL_FILTER_NEAREST, &err));
        CL(clSetKernelArg(k, 1, sizeof how, &how));
        launch(queue, slow, W * H, 64, 0, NULL, NULL);
        CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL));
        if (!kept)
            CL(clReleaseSampler(how));
        for (int j = 0; j < OTHERS; j++)
            MADE(others[j], clCreateSampler(context, CL_FALSE, i % 2 ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP,
                                            CL_FILTER_NEAREST, &err));
        show_buffer("sampled", queue, out, 0, W * H * sizeof(uint32_t));
        for (int j = 0; j < OTHERS; j++)
            CL(clReleaseSampler(others[j]));
        if (kept)
            CL(clReleaseSampler(how));
    }
    CL(clReleaseMemObject(in));
    CL(clReleaseMemObject(out));
    CL(clReleaseKernel(slow));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
