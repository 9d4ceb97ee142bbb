/* SPDX-License-Identifier: MIT */
/* Buffers and images that the host may only read, only write, or not touch at all: kernels use them as others, the
 * host's calls are refused as the driver refuses them. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4, W = 128, H = N / W };

static const char source[] =
    "__kernel void set(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = i * k + (uint)get_group_id(0); }\n"
    "__kernel void pass(__global const uint *in, __global uint *out)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0); out[(i * 5u) % n] = in[n - 1u - i] + 1u; }\n"
    "__kernel void paint(__write_only image2d_t o, uint k)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); write_imageui(o, (int2)(x, y), (uint4)(x * k + y)); }\n"
    "__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void look(__read_only image2d_t i, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);\n"
    "  out[y * w + x] = read_imageui(i, s, (int2)(x, h - 1 - y)).x; }\n";

/* Each device's part of what is painted is looked at by another. */
static void try_image(cl_program p, cl_mem_flags flags, cl_mem out)
{
    static uint32_t host[N];
    const size_t zero[3] = {0}, region[3] = {W, 4, 1}, global[2] = {W, H}, local[2] = {W, 1};
    cl_kernel paint = kernel_of(p, "paint"), look = kernel_of(p, "look");
    cl_mem_flags got = 0;
    cl_mem image =
        new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){W, H, 1}, CL_MEM_READ_WRITE | flags, CL_UNSIGNED_INT32, NULL);
    CL(clGetMemObjectInfo(image, CL_MEM_FLAGS, sizeof got, &got, NULL));
    set_mem(paint, 0, image);
    SET(look, image, out);
    for (cl_uint k = 3; k < 5; k++) {
        set_uint(paint, 1, k);
        launch2(queue, paint, global, local);
        launch2(queue, look, global, local);
        show_buffer("looked", queue, out, 0, BYTES);
    }
    printf("image of %x: read %d, write %d\n", (unsigned)got,
           clEnqueueReadImage(queue, image, CL_TRUE, zero, region, 0, 0, host, 0, NULL, NULL),
           clEnqueueWriteImage(queue, image, CL_TRUE, zero, region, 0, 0, host, 0, NULL, NULL));
    RELEASE(image, paint, look);
}

int main(void)
{
    static uint32_t host[N];
    const cl_mem_flags flags[] = {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS};
    const uint32_t pattern = 7;
    const size_t zero[3] = {0}, region[3] = {64, 1, 1};
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel set = kernel_of(p, "set"), pass = kernel_of(p, "pass");
    cl_mem out = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    for (int i = 0; i < 3; i++) {
        cl_mem m = buffer(CL_MEM_READ_WRITE | flags[i], BYTES, NULL);
        cl_mem_flags got = 0;
        CL(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof got, &got, NULL));
        printf("flags %x\n", (unsigned)got);
        SET(set, m, (cl_uint)i + 3);
        launch(queue, set, N, 64, 0, NULL, NULL);
        SET(pass, m, out);
        launch(queue, pass, N, 64, 0, NULL, NULL);
        show_buffer("passed", queue, out, 0, BYTES);
        launch(queue, set, N, 64, 0, NULL, NULL);
        printf("read %d\n", clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        printf("read rectangle %d\n",
               clEnqueueReadBufferRect(queue, m, CL_TRUE, zero, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL));
        printf("write %d\n", clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, 4096, host, 0, NULL, NULL));
        void *v = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &err);
        printf("map to read %d\n", err);
        if (!err)
            unmap(m, v);
        v = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &err);
        printf("map to write %d\n", err);
        if (!err)
            unmap(m, v);
        CL(clEnqueueFillBuffer(queue, m, &pattern, 4, 256, 512, 0, NULL, NULL));
        launch(queue, pass, N, 64, 0, NULL, NULL);
        CL(clEnqueueCopyBuffer(queue, m, out, 0, BYTES / 2, BYTES / 2, 0, NULL, NULL));
        show_buffer("copied", queue, out, 0, BYTES);
        CL(clReleaseMemObject(m));
        try_image(p, flags[i], out);
    }
    return FINISH(out, set, pass, p);
}
