/* SPDX-License-Identifier: MIT */
/* Launches that read an image through a sampler, each of which the application releases, with the image and the kernel,
 * as soon as it has enqueued the launch: they are to live until that has ended. "sampled kept" releases the samplers at
 * its end, for a driver that lets go of one in spite of the launch (PoCL 6.0). */
#include "plain.h"

enum { W = 512, H = 256, LAUNCHES = 4 };

static const char source[] =
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
    cl_mem out[LAUNCHES];
    cl_sampler how[LAUNCHES];
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    for (int i = 0; i < LAUNCHES; i++) {
        cl_mem in;
        fill_words(host, W * H * 4, (uint32_t)i);
        MADE(in, clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &err));
        MADE(how[i], clCreateSampler(context, CL_FALSE, i % 2 ? CL_ADDRESS_CLAMP : CL_ADDRESS_CLAMP_TO_EDGE,
                                     CL_FILTER_NEAREST, &err));
        out[i] = buffer(CL_MEM_READ_WRITE, W * H * sizeof(uint32_t), NULL);
        cl_kernel k = kernel_of(p, "sampled");
        set_mem(k, 0, in);
        CL(clSetKernelArg(k, 1, sizeof how[i], &how[i]));
        set_mem(k, 2, out[i]);
        CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL));
        if (!kept)
            CL(clReleaseSampler(how[i]));
        CL(clReleaseMemObject(in));
        CL(clReleaseKernel(k));
    }
    for (int i = 0; i < LAUNCHES; i++) {
        show_buffer("sampled", queue, out[i], 0, W * H * sizeof(uint32_t));
        CL(clReleaseMemObject(out[i]));
        if (kept)
            CL(clReleaseSampler(how[i]));
    }
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
