/* SPDX-License-Identifier: MIT */
/* The mean of (2 * RADIUS + 1) squared pixels around each, first along the rows, then along the columns. */
#define SIDE (2 * RADIUS + 1)

/* A work-group's row of pixels, with its margins, goes through local memory. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
box_rows(__global const uchar4 *in, __global uchar4 *out, int width)
{
    __local uchar4 row[GROUP + 2 * RADIUS];
    const int item = get_local_id(0), x = get_global_id(0);
    const size_t start = get_global_id(1) * (size_t)width;
    for (int i = item; i < GROUP + 2 * RADIUS; i += GROUP)
        row[i] = in[start + clamp((int)get_group_id(0) * GROUP - RADIUS + i, 0, width - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= width)
        return;
    uint4 sum = SIDE / 2;
    for (int i = 0; i < SIDE; i++)
        sum += convert_uint4(row[item + i]);
    out[start + x] = convert_uchar4(sum / (uint4)SIDE);
}

/* Each work-item goes down one strip of a column and keeps the sum up to date. */
__kernel void box_columns(__global const uchar4 *in, __global uchar4 *out, int width, int height)
{
    const int x = get_global_id(0), first = get_global_id(1) * STRIP, end = min(first + STRIP, height);
    if (x >= width)
        return;
    uint4 sum = SIDE / 2;
    for (int y = first - RADIUS; y < first + RADIUS; y++)
        sum += convert_uint4(in[(size_t)clamp(y, 0, height - 1) * width + x]);
    for (int y = first; y < end; y++) {
        sum += convert_uint4(in[(size_t)min(y + RADIUS, height - 1) * width + x]);
        out[(size_t)y * width + x] = convert_uchar4(sum / (uint4)SIDE);
        sum -= convert_uint4(in[(size_t)max(y - RADIUS, 0) * width + x]);
    }
}
