/* SPDX-License-Identifier: MIT */
/* A kernel that reads a picture through a sampler, beyond its edges as well, and the picture. */
#ifndef GS_TESTS_E2E_SAMPLED_H
#define GS_TESTS_E2E_SAMPLED_H

#include "plain.h"

enum { W = 512, H = 256 };

static const char sampled_source[] =
    "__kernel void sampled(__read_only image2d_t in, sampler_t how, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); uint s = (uint)get_group_id(1);\n"
    "  for (int k = 0; k < 16; k++) s = s * 31u + read_imageui(in, how, (int2)(x + k, y - k)).x;\n"
    "  out[y * get_global_size(0) + x] = s; }\n";

static cl_mem picture(uint32_t seed)
{
    static uint32_t host[W * H * 4];
    fill_words(host, W * H * 4, seed);
    return new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){W, H, 1}, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                     CL_UNSIGNED_INT32, host);
}

/* At the edges: the nearest texel, or zeros. */
static cl_sampler sampler(bool to_edge)
{
    cl_int err;
    cl_sampler how;
    MADE(how, clCreateSampler(context, CL_FALSE, to_edge ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP,
                              CL_FILTER_NEAREST, &err));
    return how;
}

static void launch_sampled(cl_kernel k)
{
    launch2(queue, k, (size_t[2]){W, H}, (size_t[2]){8, 8});
}

#endif
