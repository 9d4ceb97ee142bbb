/* SPDX-License-Identifier: MIT */
/* The cosine transform of blocks of 8 x 8 numbers, and back. A work-group of 32 x 2 work-items has 32 x 16 numbers in
 * local memory, which are 64 columns of 8 and then 64 rows of 8: each work-item transforms one of each. */
#define WIDTH 32
#define HEIGHT 16

/* cosine[k][n] = c(k) * cos((2 n + 1) k pi / 16), with c(0) = sqrt(1/8) and else 1/2 */
__constant float cosine[8][8] = {
    {0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f},
    {0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f},
    {0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f},
    {0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f, -0.41573481f},
    {0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f, 0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f},
    {0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f, -0.41573481f, -0.09754516f, 0.49039264f, -0.27778512f},
    {0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f},
    {0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f, 0.49039264f, -0.41573481f, 0.27778512f, -0.09754516f},
};

/* Transforms eight numbers that lie `step` apart, in place. */
static void transform(__local float *v, int step, bool inverse)
{
    float in[8], out[8];
    for (int n = 0; n < 8; n++)
        in[n] = v[n * step];
    for (int k = 0; k < 8; k++) {
        out[k] = 0.0f;
        for (int n = 0; n < 8; n++)
            out[k] += (inverse ? cosine[n][k] : cosine[k][n]) * in[n];
    }
    for (int n = 0; n < 8; n++)
        v[n * step] = out[n];
}

static void transform_tile(__global const float *in, __global float *out, uint stride, bool inverse,
                           __local float (*tile)[WIDTH + 1])
{
    const uint x = get_local_id(0), part = get_local_id(1), item = part * WIDTH + x;
    const size_t corner = get_group_id(1) * (size_t)HEIGHT * stride + get_group_id(0) * WIDTH;
    for (uint y = part; y < HEIGHT; y += 2)
        tile[y][x] = in[corner + y * stride + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    transform(&tile[part * 8][x], WIDTH + 1, inverse);
    barrier(CLK_LOCAL_MEM_FENCE);
    transform(&tile[item % HEIGHT][item / HEIGHT * 8], 1, inverse);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = part; y < HEIGHT; y += 2)
        out[corner + y * stride + x] = tile[y][x];
}

__kernel __attribute__((reqd_work_group_size(WIDTH, 2, 1))) void dct8x8(__global const float *in, __global float *out,
                                                                       uint stride)
{
    __local float tile[HEIGHT][WIDTH + 1];
    transform_tile(in, out, stride, false, tile);
}

__kernel __attribute__((reqd_work_group_size(WIDTH, 2, 1))) void idct8x8(__global const float *in, __global float *out,
                                                                        uint stride)
{
    __local float tile[HEIGHT][WIDTH + 1];
    transform_tile(in, out, stride, true, tile);
}
