/* SPDX-License-Identifier: MIT */
/* An image of 16 MiB whose rows 16 launches write, each 32 of every 512, as the conformance suite's allocations does:
 * nobody can tell beforehand which. All are enqueued before anything is waited for. */
#include "plain.h"

enum { SIDE = 2048, LAUNCHES = 16, ITEMS = 32, TEXEL = 4 };

static const char source[] = "__kernel void rows(__write_only image2d_t image, uint stride)\n"
                             "{\n"
                             "  for (int y = 0; y < get_image_height(image); y++)\n"
                             "    if (y % stride == get_global_id(0))\n"
                             "      for (int x = 0; x < get_image_width(image); x++)\n"
                             "        write_imageui(image, (int2)(x, y), (uint4)(x, y, x ^ y, 7) & 255u);\n"
                             "}\n";

int main(void)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    const size_t origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1}, global = ITEMS, local = 4;
    unsigned char *host = malloc((size_t)SIDE * SIDE * TEXEL);
    cl_int err;
    cl_mem image;
    start(0);
    MADE(image, clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err));
    cl_kernel k = kernel_of(build(source, ""), "rows");
    set_mem(k, 0, image);
    set_uint(k, 1, LAUNCHES * ITEMS);
    for (size_t i = 0; i < LAUNCHES; i++) {
        const size_t offset = i * ITEMS;
        CL(clEnqueueNDRangeKernel(queue, k, 1, &offset, &global, &local, 0, NULL, NULL));
    }
    CL(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
    show("image", host, (size_t)SIDE * SIDE * TEXEL);
    free(host);
    return 0;
}
