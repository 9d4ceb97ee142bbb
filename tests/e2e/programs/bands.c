/* SPDX-License-Identifier: MIT */
/* bands [ROUNDS]: images that kernels read and write row by row, slice by slice, with neighbours, again and again, so
 * that parts of a split exchange what lies at their edges; and commands on some of the rows between. */
#include "plain.h"

enum { W = 200, H = 150, D = 22, L = 3001, TEXELS = W * H * D };

static const char source[] =
    "__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "__constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;\n"
    "uint4 around(__read_only image2d_t in, int2 at, int reach)\n"
    "{ uint4 s = 0; for (int d = -reach; d <= reach; d++)\n"
    "    s += read_imageui(in, edge, at + (int2)(d, d)) * (uint)(d + 5);\n"
    "  return s; }\n"
    "__kernel void rows(__read_only image2d_t in, __write_only image2d_t out, int reach)\n"
    "{ const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  if (at.x >= get_image_width(out) || at.y >= get_image_height(out)) return;\n"
    "  write_imageui(out, at, around(in, at, reach) + read_imageui(in, border, (int2)(at.x, at.y - 2)) + 1u); }\n"
    "__kernel void tall(__read_only image2d_t in, __write_only image2d_t out)\n"
    "{ const int x = get_global_id(0), y = get_global_id(1);\n"
    "  write_imageui(out, (int2)(x, y), read_imageui(in, edge, (int2)(x, y + 400))); }\n"
    "__kernel void turn(__read_only image2d_t in, __write_only image2d_t out)\n"
    "{ const int x = get_global_id(0), y = get_global_id(1);\n"
    "  write_imageui(out, (int2)(x, y), read_imageui(in, smooth, (float2)((x + 0.5f) / 200.0f, (y + 75.5f) / "
    "150.0f))); }\n"
    "__kernel void every_other(__write_only image2d_t out, uint v)\n"
    "{ const int x = get_global_id(0) * 2, y = get_global_id(1); write_imageui(out, (int2)(x, y), (uint4)(v, x, y, "
    "1)); }\n"
    "__kernel void slices(__read_only image2d_array_t in, __write_only image2d_array_t out)\n"
    "{ const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "  uint4 s = read_imageui(in, edge, (int4)(x, y, z - 1, 0)) * 3u + read_imageui(in, edge, (int4)(x, y, z + 1, "
    "0));\n"
    "  write_imageui(out, (int4)(x, y, z, 0), s + (uint4)(z)); }\n"
    "__kernel void depths(__read_only image3d_t in, __global uint *out)\n"
    "{ const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "  out[(z * get_global_size(1) + y) * get_global_size(0) + x] =\n"
    "    read_imageui(in, edge, (int4)(x, y, z + 3, 0)).x * 7u + read_imageui(in, edge, (int4)(x, y, z, 0)).y; }\n"
    "__kernel void line(__read_only image1d_t in, __write_only image1d_t out)\n"
    "{ const int x = get_global_id(0);\n"
    "  write_imageui(out, x, read_imageui(in, edge, x - 1) + read_imageui(in, edge, x + 2)); }\n";

static uint32_t host[TEXELS * 4], got[TEXELS * 4];
static const size_t none[3];
static cl_program program;

static cl_mem image(cl_mem_object_type type, size_t w, size_t h, size_t d, void *data)
{
    return new_image(type, (size_t[3]){w, h, d}, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                     CL_UNSIGNED_INT32, data);
}

static void show_box(const char *name, cl_mem m, const size_t origin[3], const size_t region[3], size_t row_pitch)
{
    const size_t bytes = (row_pitch ? row_pitch : region[0] * 16) * region[1] * region[2];
    memset(got, 0x5a, sizeof got);
    CL(clEnqueueReadImage(queue, m, CL_TRUE, origin, region, row_pitch, 0, got, 0, NULL, NULL));
    show(name, got, bytes);
}

static void run(cl_kernel k, size_t x, size_t y, size_t z)
{
    const size_t global[3] = {x, y, z};
    CL(clEnqueueNDRangeKernel(queue, k, z ? 3 : y ? 2 : 1, NULL, global, NULL, 0, NULL, NULL));
}

static void filter(cl_kernel k, cl_mem from, cl_mem to, int reach)
{
    SET(k, from, to);
    CL(clSetKernelArg(k, 2, sizeof reach, &reach));
    run(k, W + 8, H + 2, 0);
}

/* Rows that a split exchanges at its edges, commands on some rows, and reads of what lies on several devices. */
static void planes(int rounds)
{
    cl_kernel k = kernel_of(program, "rows");
    cl_mem v[2] = {image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, host), image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, NULL)};
    for (int i = 0; i < rounds; i++)
        filter(k, v[i % 2], v[1 - i % 2], i % 4 == 3 ? 5 : 1);
    show_box("planes", v[0], none, (size_t[3]){W, H, 1}, 0);
    show_box("planes", v[1], none, (size_t[3]){W, H, 1}, W * 16 + 48);
    show_box("some", v[0], (size_t[3]){17, 60, 0}, (size_t[3]){90, 40, 1}, 0);
    RELEASE(v[0], v[1], k);
}

static void commands(void)
{
    cl_kernel k = kernel_of(program, "rows"), tall = kernel_of(program, "tall"), turn = kernel_of(program, "turn"),
              other = kernel_of(program, "every_other");
    const cl_uint4 color = {{3, 1, 4, 1}};
    cl_mem a = image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, host), b = image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, NULL);
    filter(k, a, b, 1);
    CL(clEnqueueWriteImage(queue, b, CL_FALSE, (size_t[3]){0, 70, 0}, (size_t[3]){W, 9, 1}, 0, 0, host, 0, NULL, NULL));
    filter(k, b, a, 2);
    CL(clEnqueueWriteImage(queue, a, CL_TRUE, (size_t[3]){3, 74, 0}, (size_t[3]){W - 9, 3, 1}, 0, 0, host, 0, NULL,
                           NULL));
    CL(clEnqueueFillImage(queue, a, &color, (size_t[3]){1, 140, 0}, (size_t[3]){W - 1, 10, 1}, 0, NULL, NULL));
    filter(k, a, b, 1);
    CL(clEnqueueCopyImage(queue, b, a, (size_t[3]){0, 100, 0}, (size_t[3]){0, 2, 0}, (size_t[3]){W, 30, 1}, 0, NULL,
                          NULL));
    show_box("commands", a, none, (size_t[3]){W, H, 1}, 0);
    show_box("commands", b, none, (size_t[3]){W, H, 1}, 0);
    set_mem(tall, 0, a); /* all of it reads the last row */
    set_mem(tall, 1, b);
    run(tall, W, H, 0);
    set_mem(turn, 0, b); /* coordinates that say nothing */
    set_mem(turn, 1, a);
    run(turn, W, H, 0);
    show_box("commands", a, none, (size_t[3]){W, H, 1}, 0);
    set_mem(other, 0, a); /* leaves texels of its rows as they were */
    set_uint(other, 1, 77);
    run(other, W / 2, H, 0);
    show_box("commands", a, (size_t[3]){0, 40, 0}, (size_t[3]){W, 70, 1}, 0);
    RELEASE(a, b, k, tall, turn, other);
}

static void volumes(void)
{
    enum { X = 40, Y = 30 };
    cl_kernel k = kernel_of(program, "slices"), deep = kernel_of(program, "depths");
    cl_mem v[2] = {image(CL_MEM_OBJECT_IMAGE2D_ARRAY, X, Y, D, host),
                   image(CL_MEM_OBJECT_IMAGE2D_ARRAY, X, Y, D, NULL)};
    for (int i = 0; i < 4; i++) {
        SET(k, v[i % 2], v[1 - i % 2]);
        run(k, X, Y, D);
    }
    show_box("layers", v[0], none, (size_t[3]){X, Y, D}, 0);
    show_box("layers", v[1], (size_t[3]){1, 2, 8}, (size_t[3]){30, 20, 9}, 0);
    cl_mem in = image(CL_MEM_OBJECT_IMAGE3D, X, Y, D, host), out = buffer(CL_MEM_READ_WRITE, X * Y * D * 4, NULL);
    SET(deep, in, out);
    run(deep, X, Y, D);
    CL(clEnqueueCopyImage(queue, v[0], in, (size_t[3]){0, 0, 3}, none, (size_t[3]){X, Y, 1}, 0, NULL, NULL));
    run(deep, X, Y, D);
    show_buffer("depths", queue, out, 0, X * Y * D * 4);
    RELEASE_ALL(v);
    RELEASE(in, out, k, deep);
}

static void lines(void)
{
    cl_kernel k = kernel_of(program, "line");
    cl_mem v[2] = {image(CL_MEM_OBJECT_IMAGE1D, L, 0, 0, host), image(CL_MEM_OBJECT_IMAGE1D, L, 0, 0, NULL)};
    for (int i = 0; i < 5; i++) {
        SET(k, v[i % 2], v[1 - i % 2]);
        run(k, L, 0, 0);
    }
    show_box("line", v[0], none, (size_t[3]){L, 1, 1}, 0);
    show_box("line", v[1], (size_t[3]){1400, 0, 0}, (size_t[3]){500, 1, 1}, 0);
    RELEASE_ALL(v);
    CL(clReleaseKernel(k));
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 0;
    start(0);
    program = build(source, "");
    fill_words(host, sizeof host / 4, 11);
    planes(rounds ? rounds : 6);
    if (!rounds) {
        commands();
        volumes();
        lines();
    }
    return FINISH(program);
}
