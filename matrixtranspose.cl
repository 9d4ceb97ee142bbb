/* SPDX-License-Identifier: MIT */
/* A work-group turns one tile over in local memory, so that it reads and writes whole rows. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose(__global const float *in, __global float *out, uint width, uint height)
{
    __local float tile[TILE][TILE + 1];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    if (left + lx < width && top + ly < height)
        tile[ly][lx] = in[(size_t)(top + ly) * width + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + lx < height && left + ly < width)
        out[(size_t)(left + ly) * height + top + lx] = tile[lx][ly];
}
