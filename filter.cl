/* SPDX-License-Identifier: MIT */
/* A filter of (2 * RADIUS + 1) squared whole weights over a gray picture whose edges are repeated. The work-group first
 * brings its pixels, with the margin that the weights reach, into local memory. */
#define SIDE (2 * RADIUS + 1)

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
filter(__global const uchar *in, __global uchar *out, __constant int *weights, int sum, int width, int height)
{
    __local uchar tile[GROUP + 2 * RADIUS][GROUP + 2 * RADIUS];
    const int left = get_group_id(0) * GROUP - RADIUS, top = get_group_id(1) * GROUP - RADIUS;
    const int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);

    for (int ty = ly; ty < GROUP + 2 * RADIUS; ty += GROUP)
        for (int tx = lx; tx < GROUP + 2 * RADIUS; tx += GROUP)
            tile[ty][tx] = in[(size_t)clamp(top + ty, 0, height - 1) * width + clamp(left + tx, 0, width - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= width || y >= height)
        return;
    int total = sum / 2;
    for (int dy = 0; dy < SIDE; dy++)
        for (int dx = 0; dx < SIDE; dx++)
            total += weights[dy * SIDE + dx] * tile[ly + dy][lx + dx];
    out[(size_t)y * width + x] = convert_uchar_sat(total / sum);
}
