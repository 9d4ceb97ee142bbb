// Matrix multiplication through tiles in local memory, as in the sample.
//! kernel k global 64 32 local 4 4
//! buffer float 2048 zero
//! buffer float 1536 random 9
//! buffer float 3072 random 9
//! value uint 31
//! value uint 48
//! value uint 62
#define TILE 4
__kernel void k(__global float *c, __global const float *a, __global const float *b, uint height, uint inner, uint width)
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
