/* SPDX-License-Identifier: MIT */
/* A Gaussian filter as a recursion (Deriche): each work-item goes down its column and up again. */
__kernel void recursive_gaussian(__global const uchar4 *in, __global float4 *down, __global uchar4 *out, uint width,
                                 uint height, float4 a, float2 b, float2 edge)
{
    const uint x = get_global_id(0);
    if (x >= width)
        return;
    float4 in1 = convert_float4(in[x]), out1 = edge.x * in1, out2 = out1;
    for (uint y = 0; y < height; y++) {
        const float4 now = convert_float4(in[(size_t)y * width + x]);
        const float4 result = a.x * now + a.y * in1 - b.x * out1 - b.y * out2;
        down[(size_t)y * width + x] = result;
        in1 = now;
        out2 = out1;
        out1 = result;
    }
    in1 = convert_float4(in[(size_t)(height - 1) * width + x]);
    float4 in2 = in1;
    out1 = out2 = edge.y * in1;
    for (uint y = height; y-- > 0;) {
        const float4 result = a.z * in1 + a.w * in2 - b.x * out1 - b.y * out2;
        out[(size_t)y * width + x] = convert_uchar4_sat_rte(down[(size_t)y * width + x] + result);
        in2 = in1;
        in1 = convert_float4(in[(size_t)y * width + x]);
        out2 = out1;
        out1 = result;
    }
}

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose(__global const uchar4 *in, __global uchar4 *out, uint width, uint height)
{
    __local uchar4 tile[TILE][TILE + 1];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    if (left + lx < width && top + ly < height)
        tile[ly][lx] = in[(size_t)(top + ly) * width + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + lx < height && left + ly < width)
        out[(size_t)(left + ly) * height + top + lx] = tile[lx][ly];
}
