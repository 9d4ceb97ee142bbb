/* SPDX-License-Identifier: MIT */
/* Images of one to three dimensions and arrays of them: read through samplers, written by kernels that are split, and
 * every command that moves texels. images [own | two]: none is made of a buffer; a plane and a volume alone. */
#include "plain.h"

#include <signal.h>

enum { W = 96, H = 40, D = 6, TEXELS = W * H * D };

static const char source[] =
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void flip(__read_only image2d_t in, __write_only image2d_t out, int shift)\n"
    "{ int x = get_global_id(0), y = get_global_id(1);\n"
    "  uint4 t = read_imageui(in, nearest, (int2)((x + shift) % get_image_width(in), get_image_height(in) - 1 - y));\n"
    "  write_imageui(out, (int2)(x, y), t * 3u + (uint4)(x, y, (uint)get_group_id(1), 1)); }\n"
    "__kernel void sum3(__read_only image3d_t in, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0); uint s = 0;\n"
    "  for (int z = 0; z < get_image_depth(in); z++) s = s * 31u + read_imageui(in, nearest, (int4)(x, y, z, 0)).x;\n"
    "  out[y * w + x] = s; }\n"
    "__kernel void layers(__read_only image2d_array_t in, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0); uint s = 0;\n"
    "  for (int z = 0; z < get_image_array_size(in); z++) s = s * 7u + read_imageui(in, nearest, (int4)(x, y, z, "
    "0)).y;\n"
    "  out[y * w + x] = s; }\n"
    "__kernel void line(__read_only image1d_t in, __write_only image1d_t out)\n"
    "{ int x = get_global_id(0); write_imageui(out, x, read_imageui(in, nearest, x) + (uint4)(x)); }\n"
    "__kernel void rows(__read_only image1d_array_t in, __global uint *out)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); out[y * get_global_size(0) + x] =\n"
    "  read_imageui(in, nearest, (int2)(x, y)).z * 3u; }\n"
    "__kernel void texels(__read_only image1d_buffer_t in, __global uint *out)\n"
    "{ int x = get_global_id(0); out[x] = read_imageui(in, x).x * 5u + 1u; }\n"
    "__kernel void bump(__global uint *v) { v[get_global_id(0)] += (uint)get_global_id(0) * 3u; }\n";

static uint32_t host[TEXELS * 4], got[TEXELS * 4];
static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
static const size_t none[3];
static cl_program program;

static cl_mem image(cl_mem_object_type type, size_t w, size_t h, size_t d, void *data)
{
    return new_image(type, (size_t[3]){w, h, d}, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                     CL_UNSIGNED_INT32, data);
}

static void show_image(const char *name, cl_mem m, size_t w, size_t h, size_t d)
{
    const size_t region[3] = {w, h, d};
    memset(got, 0, sizeof got);
    CL(clEnqueueReadImage(queue, m, CL_TRUE, none, region, 0, 0, got, 0, NULL, NULL));
    show(name, got, w * h * d * 16);
}

/* Sizes that no device has, nor 64 bits: refused, without a division by 0 (which PoCL would hide). */
static void too_large(void)
{
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = (size_t)1 << 32, .image_height = (size_t)1 << 32};
    void (*const before)(int) = signal(SIGFPE, SIG_DFL);
    cl_int err;
    printf("too large: %s\n",
           clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err) ? "made" : "refused");
    signal(SIGFPE, before);
}

/* What an image of one slice says of itself. */
static void say_sizes(const char *name, cl_mem_object_type type)
{
    static const cl_image_info what[] = {CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH,
                                         CL_IMAGE_WIDTH,        CL_IMAGE_HEIGHT,    CL_IMAGE_DEPTH,
                                         CL_IMAGE_ARRAY_SIZE};
    cl_mem m = image(type, W, H, 1, NULL);
    printf("one of %s:", name);
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        size_t n = 0;
        CL(clGetImageInfo(m, what[i], sizeof n, &n, NULL));
        printf(" %zu", n);
    }
    puts("");
    CL(clReleaseMemObject(m));
}

static void run(cl_kernel k, size_t w, size_t h, size_t lw, size_t lh)
{
    const size_t global[2] = {w, h}, local[2] = {lw, lh};
    CL(clEnqueueNDRangeKernel(queue, k, h ? 2 : 1, NULL, global, lw ? local : NULL, 0, NULL, NULL));
}

static void plane(void)
{
    cl_kernel k = kernel_of(program, "flip");
    cl_int err;
    cl_mem a = image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, host), b = image(CL_MEM_OBJECT_IMAGE2D, W, H, 0, NULL);
    for (cl_int s = 0; s < 6; s++) {
        SET(k, s % 2 ? b : a, s % 2 ? a : b);
        CL(clSetKernelArg(k, 2, sizeof s, &s));
        run(k, W, H, 8, 4);
        /* Between launches: the other commands. */
        const size_t origin[3] = {5, 7, 0}, to[3] = {20, 3, 0}, region[3] = {31, 17, 1};
        const cl_uint4 color = {{1, 2, 3, (cl_uint)s}};
        cl_mem m = s % 2 ? a : b;
        if (s == 1)
            CL(clEnqueueFillImage(queue, m, &color, origin, region, 0, NULL, NULL));
        if (s == 2)
            CL(clEnqueueCopyImage(queue, m, s % 2 ? b : a, origin, to, region, 0, NULL, NULL));
        if (s == 3)
            CL(clEnqueueWriteImage(queue, m, CL_FALSE, to, region, 31 * 16 + 32, 0, host, 0, NULL, NULL));
        if (s == 4) {
            size_t pitch = 0;
            uint32_t *v;
            MADE(v, clEnqueueMapImage(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &pitch, NULL, 0,
                                      NULL, NULL, &err));
            for (size_t y = 0; y < region[1]; y++)
                for (size_t x = 0; x < region[0]; x += 2)
                    v[y * pitch / 4 + x * 4] += 9;
            unmap(m, v);
        }
    }
    show_image("plane", a, W, H, 1);
    show_image("plane", b, W, H, 1);
    RELEASE(a, b, k);
}

static void reduce(const char *name, const char *kernel, cl_mem_object_type type, size_t w, size_t h, size_t d)
{
    cl_kernel k = kernel_of(program, kernel);
    cl_mem in = image(type, w, type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : h, d, host);
    cl_mem out = buffer(CL_MEM_READ_WRITE, w * h * 4, NULL);
    const cl_uint4 color = {{9, 8, 7, 6}};
    const size_t origin[3] = {2, 1, type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : 1};
    const size_t region[3] = {11, 3, type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : 2};
    SET(k, in, out);
    run(k, w, h, 8, 2);
    show_buffer(name, queue, out, 0, w * h * 4);
    CL(clEnqueueFillImage(queue, in, &color, origin, region, 0, NULL, NULL));
    CL(clEnqueueCopyBufferToImage(queue, out, in, 16, origin, (size_t[3]){5, 1, 1}, 0, NULL, NULL));
    run(k, w, h, 0, 0);
    show_buffer(name, queue, out, 0, w * h * 4);
    CL(clEnqueueCopyImageToBuffer(queue, in, out, origin, region, 32, 0, NULL, NULL));
    show_buffer(name, queue, out, 0, w * h * 4);
    RELEASE(in, out, k);
}

static void lines(void)
{
    cl_kernel k = kernel_of(program, "line");
    cl_mem a = image(CL_MEM_OBJECT_IMAGE1D, 2000, 0, 0, host), b = image(CL_MEM_OBJECT_IMAGE1D, 2000, 0, 0, NULL);
    SET(k, a, b);
    run(k, 2000, 0, 50, 0);
    SET(k, b, a);
    run(k, 2000, 0, 0, 0);
    show_image("line", a, 2000, 1, 1);
    show_image("line", b, 2000, 1, 1);
    RELEASE(a, b, k);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Maps of more than a row and of less, to read, to change, and to write anew; and of the application's own memory. */
static void map_image(const char *name, cl_mem_object_type type, size_t w, size_t h, size_t d, cl_mem_flags flags)
{
    static const cl_map_flags hows[] = {CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
                                        CL_MAP_WRITE};
    static uint32_t own[TEXELS * 4];
    const bool solid = type == CL_MEM_OBJECT_IMAGE3D, array = type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    cl_int err;
    memcpy(own, host, sizeof own);
    cl_mem m = new_image(type, (size_t[3]){w, h, d}, CL_MEM_READ_WRITE | flags, CL_UNSIGNED_INT32, own);
    for (unsigned i = 0; i < 8; i++) {
        const size_t origin[3] = {i % 2 * 3, h > 8 ? i % 3 : 0, d > 2 ? i % 2 : 0};
        const size_t region[3] = {i % 2 ? w - 9 : w, h > 8 ? h - 2 - i % 3 : h, d > 2 ? least(d - 1, 4) : d};
        size_t pitch = 0, slice = 0, words = 0;
        uint64_t sum = 0;
        cl_event mapped;
        uint32_t *v;
        MADE(v, clEnqueueMapImage(queue, m, i < 4, hows[i % 4], origin, region, &pitch, solid || array ? &slice : NULL,
                                  0, NULL, &mapped, &err));
        wait_for(mapped);
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                for (size_t x = 0; x < region[0] * 4; x++) {
                    uint32_t *word = v + z * slice / 4 + y * pitch / 4 + x;
                    if (i % 4 < 2)
                        sum = sum * 31 + *word;
                    if (i % 4)
                        *word = i % 4 == 1 ? *word + 5 : (uint32_t)(words * (i + 3));
                    words++;
                }
        unmap(m, v);
        printf("%s: %zu words, %08x\n", name, words, (unsigned)(sum ^ sum >> 32));
    }
    show_image(name, m, w, h ? h : 1, d ? d : 1);
    CL(clReleaseMemObject(m));
}

/* An image that is a window of a buffer: what kernels write to the buffer is seen through it. */
static void of_buffer(void)
{
    cl_kernel k = kernel_of(program, "texels"), bump = kernel_of(program, "bump");
    cl_mem base = buffer_of(host, 4096 * 16), out = buffer(CL_MEM_READ_WRITE, 4096 * 4, NULL);
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4096, .mem_object = base};
    cl_int err;
    cl_mem m;
    MADE(m, clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err));
    set_mem(bump, 0, base);
    run(bump, 4096 * 4, 0, 64, 0);
    SET(k, m, out);
    run(k, 4096, 0, 64, 0);
    show_buffer("of a buffer", queue, out, 0, 4096 * 4);
    run(bump, 4096 * 4, 0, 32, 0);
    run(k, 4096, 0, 32, 0);
    show_buffer("of a buffer", queue, out, 0, 4096 * 4);
    show_buffer("its buffer", queue, base, 0, 4096 * 16);
    CL(clReleaseMemObject(base));
    run(k, 4096, 0, 64, 0);
    show_buffer("after its buffer", queue, out, 0, 4096 * 4);
    RELEASE(m, out, k, bump);
}

int main(int argc, char **argv)
{
    const bool of_buffers = argc < 2 || strcmp(argv[1], "own") != 0, all = argc < 2 || strcmp(argv[1], "two") != 0;
    start(0);
    program = build(source, "");
    fill_words(host, sizeof host / 4, 6);
    plane();
    reduce("volume", "sum3", CL_MEM_OBJECT_IMAGE3D, W, H, D);
    if (!all) {
        CL(clReleaseProgram(program));
        finish();
        return 0;
    }
    reduce("layers", "layers", CL_MEM_OBJECT_IMAGE2D_ARRAY, W, H, D);
    reduce("rows", "rows", CL_MEM_OBJECT_IMAGE1D_ARRAY, W, H, H);
    lines();
    too_large();
    say_sizes("planes", CL_MEM_OBJECT_IMAGE2D);
    say_sizes("volumes", CL_MEM_OBJECT_IMAGE3D);
    say_sizes("layers", CL_MEM_OBJECT_IMAGE2D_ARRAY);
    if (of_buffers)
        of_buffer();
    map_image("mapped plane", CL_MEM_OBJECT_IMAGE2D, W, H, 1, CL_MEM_COPY_HOST_PTR);
    map_image("mapped volume", CL_MEM_OBJECT_IMAGE3D, W, H, D, CL_MEM_COPY_HOST_PTR);
    map_image("mapped layers", CL_MEM_OBJECT_IMAGE2D_ARRAY, W, H, D, CL_MEM_COPY_HOST_PTR);
    map_image("mapped line", CL_MEM_OBJECT_IMAGE1D, 2000, 1, 1, CL_MEM_COPY_HOST_PTR);
    map_image("mapped own plane", CL_MEM_OBJECT_IMAGE2D, W, H, 1, CL_MEM_USE_HOST_PTR);
    map_image("mapped own volume", CL_MEM_OBJECT_IMAGE3D, W, H, D, CL_MEM_USE_HOST_PTR);
    return FINISH(program);
}
