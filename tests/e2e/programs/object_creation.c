/* SPDX-License-Identifier: MIT */
/* Objects that are made by the functions of OpenCL 1.0 and 3.0, with contents and without, behave as those of
 * clCreateBuffer and clCreateImage do; and programs that no source is known of. */
#include "plain.h"

enum { W = 96, H = 40, D = 6, TEXELS = W * H * D, N = 1 << 14 };

static const char source[] =
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void flip(__read_only image2d_t in, __write_only image2d_t out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1);\n"
    "  uint4 t = read_imageui(in, nearest, (int2)(x, get_image_height(in) - 1 - y));\n"
    "  write_imageui(out, (int2)(x, y), t * 3u + (uint4)(x, y, (uint)get_group_id(1), 1)); }\n"
    "__kernel void sum3(__read_only image3d_t in, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0); uint s = 0;\n"
    "  for (int z = 0; z < get_image_depth(in); z++) s = s * 31u + read_imageui(in, nearest, (int4)(x, y, z, 0)).x;\n"
    "  out[y * w + x] = s; }\n"
    "__kernel void bump(__global uint *v, __global const uint *by)\n"
    "{ v[get_global_id(0)] += by[get_global_id(0)] * 3u + (uint)get_group_id(0); }\n";

static uint32_t host[TEXELS * 4], got[TEXELS * 4];
static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
static cl_program program;

static void launch_2d(cl_kernel k)
{
    const size_t global[2] = {W, H}, local[2] = {16, 4};
    CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL));
}

static void show_image(const char *name, cl_mem m)
{
    const size_t none[3] = {0}, region[3] = {W, H, 1};
    CL(clEnqueueReadImage(queue, m, CL_TRUE, none, region, 0, 0, got, 0, NULL, NULL));
    show(name, got, (size_t)W * H * 16);
}

static void buffers(void)
{
    const cl_mem_properties nothing[] = {0};
    cl_int err;
    cl_mem v, by;
    MADE(v, clCreateBufferWithProperties(context, NULL, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, N * 4, host, &err));
    MADE(by, clCreateBufferWithProperties(context, nothing, CL_MEM_READ_ONLY, N * 4, NULL, &err));
    cl_kernel k = kernel_of(program, "bump");
    SET(k, v, by);
    for (uint32_t i = 0; i < 3; i++) {
        fill_words(got, N, i);
        CL(clEnqueueWriteBuffer(queue, by, CL_FALSE, 0, N * 4, got, 0, NULL, NULL));
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    show_buffer("with properties", queue, v, 0, N * 4);
    RELEASE(k, by, v);
}

static void images(void)
{
    const cl_mem_flags filled = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
    cl_int err;
    cl_mem in, out, deep, sums = buffer(CL_MEM_READ_WRITE, (size_t)W * H * 4, NULL);
    MADE(in, clCreateImageWithProperties(context, NULL, filled, &format, &desc, host, &err));
    MADE(out, clCreateImage2D(context, CL_MEM_READ_WRITE, &format, W, H, 0, NULL, &err));
    MADE(deep, clCreateImage3D(context, filled, &format, W, H, D, 0, 0, host, &err));
    cl_kernel flip = kernel_of(program, "flip"), sum = kernel_of(program, "sum3");
    for (int i = 0; i < 3; i++) {
        SET(flip, i % 2 ? out : in, i % 2 ? in : out);
        launch_2d(flip);
    }
    SET(sum, deep, sums);
    launch_2d(sum);
    show_image("2D", in);
    show_image("2D, written", out);
    show_buffer("3D", queue, sums, 0, (size_t)W * H * 4);
    RELEASE(flip, sum);
    for (int i = 0; i < 4; i++)
        CL(clReleaseMemObject(((cl_mem[]){in, out, deep, sums})[i]));
}

/* Where a device has no kernels built in, or takes no intermediate language, the error is the plain one. */
static void programs(void)
{
    static const unsigned char no_language[64] = "no intermediate language";
    cl_int err;
    if (clCreateProgramWithBuiltInKernels(context, 1, &device, "no such kernel", &err))
        err = CL_SUCCESS;
    printf("built in: %d\n", err);
    if (clCreateProgramWithIL(context, no_language, sizeof no_language, &err))
        err = CL_SUCCESS;
    printf("intermediate language: %d\n", err);
}

int main(void)
{
    start(0);
    program = build(source, "");
    CL(clRetainProgram(program));
    CL(clReleaseProgram(program));
    fill_words(host, sizeof host / 4, 7);
    buffers();
    images();
    programs();
    return FINISH(program);
}
