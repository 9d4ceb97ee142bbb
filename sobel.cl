/* SPDX-License-Identifier: MIT */
/* The edges of a picture: how steep it is at each pixel, by Sobel's two masks. */
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void sobel(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= get_image_width(out) || y >= get_image_height(out))
        return;
    int4 across = 0, down = 0;
    for (int d = -1; d <= 1; d++) {
        const int weight = d ? 1 : 2;
        across += weight * (convert_int4(read_imageui(in, nearest, (int2)(x + 1, y + d))) -
                            convert_int4(read_imageui(in, nearest, (int2)(x - 1, y + d))));
        down += weight * (convert_int4(read_imageui(in, nearest, (int2)(x + d, y + 1))) -
                          convert_int4(read_imageui(in, nearest, (int2)(x + d, y - 1))));
    }
    const float4 steep = sqrt(convert_float4(across * across + down * down));
    uint4 edge = min(convert_uint4_rte(steep), (uint4)255);
    edge.w = 255;
    write_imageui(out, (int2)(x, y), edge);
}
