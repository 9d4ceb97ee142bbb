/* SPDX-License-Identifier: MIT */
/* An image of 16 MiB whose rows 16 launches write, each 32 of every 512, as the conformance suite's allocations does:
 * nobody can tell beforehand which. */
#include "plain.h"

enum { SIDE = 2048, LAUNCHES = 16, ITEMS = 32, TEXEL = 4 };

static const char source[] = "__kernel void rows(__write_only image2d_array_t image, uint stride)\n"
                             "{\n"
                             "  for (int y = 0; y < get_image_height(image); y++)\n"
                             "    if (y % stride == get_global_id(0) && y % 7 != 3)\n"
                             "      for (int z = 0; z < get_image_array_size(image); z++)\n"
                             "        for (int x = 0; x < get_image_width(image); x++)\n"
                             "          write_imageui(image, (int4)(x, y, z, 0), (uint4)(x, y, x ^ y, z) & 255u);\n"
                             "}\n";

int main(void)
{
    const size_t bytes = (size_t)SIDE * SIDE * TEXEL, origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1};
    const size_t global = ITEMS, local = 4;
    uint32_t *host = malloc(bytes);
    fill_words(host, bytes / sizeof *host, 1);
    start(0);
    cl_mem image = new_image(CL_MEM_OBJECT_IMAGE2D_ARRAY, region, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                             CL_UNSIGNED_INT8, host);
    cl_kernel k = kernel_of(build(source, ""), "rows");
    SET(k, image, LAUNCHES * ITEMS);
    for (size_t i = 0; i < LAUNCHES; i++) {
        const size_t offset = i * ITEMS;
        CL(clEnqueueNDRangeKernel(queue, k, 1, &offset, &global, &local, 0, NULL, NULL));
    }
    CL(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
    show("image", host, bytes);
    free(host);
    return 0;
}
