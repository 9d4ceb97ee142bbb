/* SPDX-License-Identifier: MIT */
/* C = A * B, row-major; A has `height` rows of `inner`, C has `height` rows of `width`.
 * A work-group of TILE x TILE computes one tile of C and walks along tiles of A and B that it keeps in local memory. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(__global float *c, __global const float *a, __global const float *b, uint height, uint inner, uint width)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE + 1];
    const uint x = get_local_id(0), y = get_local_id(1);
    const uint column = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;
    float sum = 0.0f;

    for (uint k = 0; k < inner; k += TILE) {
        tile_a[y][x] = row < height && k + x < inner ? a[(size_t)row * inner + k + x] : 0.0f;
        tile_b[y][x] = column < width && k + y < inner ? b[(size_t)(k + y) * width + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < height && column < width)
        c[(size_t)row * width + column] = sum;
}
