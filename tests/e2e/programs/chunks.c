/* SPDX-License-Identifier: MIT */
/* Every command that moves bytes or texels, each of many chunks; and a kernel whose writers can't be told apart. */
#include "plain.h"

enum { W = 100, H = 70, D = 9, BYTES = W * H * D * 4, ROW = W * 4 };

static const char source[] = "__kernel void scatter(__global uint *v, __global const uint *at, uint n)\n"
                             "{ uint i = get_global_id(0); v[at[i] % n] = i * 7u; }\n";

static unsigned char host[2 * BYTES], got[2 * BYTES];
static const size_t zero[3];

static void rectangles(cl_mem a, cl_mem b)
{
    const size_t from[3] = {12, 3, 1}, to[3] = {8, 1, 0}, region[3] = {ROW - 40, H - 10, D - 2};
    CL(clEnqueueWriteBufferRect(queue, a, CL_TRUE, from, to, region, ROW, ROW * H, ROW + 16, 0, host, 0, NULL, NULL));
    CL(clEnqueueCopyBufferRect(queue, a, b, from, to, region, ROW, ROW * H, ROW, ROW * H, 0, NULL, NULL));
    memset(got, 0, sizeof got);
    CL(clEnqueueReadBufferRect(queue, b, CL_TRUE, to, from, region, ROW, ROW * H, ROW + 4, (ROW + 4) * H, got, 0, NULL,
                               NULL));
    show("rectangles", got, sizeof got);
    /* A row longer than a chunk. */
    const size_t wide[3] = {BYTES / 4, 2, 1};
    CL(clEnqueueReadBufferRect(queue, a, CL_FALSE, zero, to, wide, BYTES / 2, 0, BYTES / 3, 0, got, 0, NULL, NULL));
    CL(clFinish(queue));
    show("wide", got, sizeof got);
}

static void images(cl_mem_object_type type, size_t w, size_t h, size_t d, cl_mem a)
{
    const cl_uint colour[4] = {1, 2, 3, 4};
    const size_t whole[3] = {w, h, d}, part[3] = {w - 9, h > 1 ? h - 1 : 1, d > 1 ? d - 1 : 1}, at[3] = {5, 0, d > 1};
    const bool has_slices = d > 1;
    cl_mem x = new_image(type, whole, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL),
           y = new_image(type, whole, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL);
    CL(clEnqueueWriteImage(queue, x, CL_FALSE, zero, whole, w * 4 + 8, has_slices ? (w * 4 + 8) * h : 0, host, 0, NULL,
                           NULL));
    CL(clEnqueueFillImage(queue, y, colour, zero, whole, 0, NULL, NULL));
    CL(clEnqueueCopyImage(queue, x, y, zero, at, part, 0, NULL, NULL));
    CL(clEnqueueCopyImageToBuffer(queue, y, a, at, part, 16, 0, NULL, NULL));
    CL(clEnqueueCopyBufferToImage(queue, a, x, 32, zero, part, 0, NULL, NULL));
    memset(got, 0, sizeof got);
    CL(clEnqueueReadImage(queue, x, CL_TRUE, zero, part, w * 4, 0, got, 0, NULL, NULL));
    show("image", got, sizeof got);
    RELEASE(x, y);
}

static void scatter(cl_mem a, cl_mem b)
{
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "scatter");
    SET(k, a, b, BYTES / 4);
    for (int i = 0; i < 3; i++)
        launch(queue, k, 3000, 10, 0, NULL, NULL);
    RELEASE(k, p);
}

int main(void)
{
    start(0);
    uint32_t numbers[3000];
    for (uint32_t i = 0; i < 3000; i++) /* a different place for each: the step is prime */
        numbers[i] = i * 10007u % (BYTES / 4);
    fill_words((uint32_t *)host, sizeof host / 4, 1);
    cl_mem a = buffer(CL_MEM_READ_WRITE, BYTES, NULL), b = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 4, BYTES - 4, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, b, b, 0, BYTES / 2, BYTES / 2, 0, NULL, NULL));
    CL(clEnqueueFillBuffer(queue, a, "gpusparc", 8, 800, 8 * (BYTES / 16), 0, NULL, NULL));
    rectangles(a, b);
    images(CL_MEM_OBJECT_IMAGE2D, W * 2, H, 1, a);
    images(CL_MEM_OBJECT_IMAGE3D, W, H, D, a);
    images(CL_MEM_OBJECT_IMAGE2D_ARRAY, W, H, D, a);
    CL(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, sizeof numbers, numbers, 0, NULL, NULL));
    scatter(a, b);
    show_buffer("a", queue, a, 0, BYTES);
    show_buffer("b", queue, b, 0, BYTES);
    return FINISH(a, b);
}
