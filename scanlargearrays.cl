/* SPDX-License-Identifier: MIT */
/* Sums before each number: a work-group does a block of twice as many numbers as it has work-items, in local memory. */
__kernel void scan_blocks(__global const float *in, __global float *out, __global float *sums, uint n, __local float *s)
{
    const uint item = get_local_id(0), block = 2 * get_local_size(0);
    const size_t first = get_group_id(0) * (size_t)block + 2 * item;
    s[2 * item] = first < n ? in[first] : 0.0f;
    s[2 * item + 1] = first + 1 < n ? in[first + 1] : 0.0f;

    uint step = 1;
    for (uint pairs = block / 2; pairs > 0; pairs /= 2, step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < pairs)
            s[(2 * item + 2) * step - 1] += s[(2 * item + 1) * step - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        sums[get_group_id(0)] = s[block - 1];
        s[block - 1] = 0.0f;
    }
    for (uint pairs = 1; pairs < block; pairs *= 2) {
        step /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < pairs) {
            const float left = s[(2 * item + 1) * step - 1];
            s[(2 * item + 1) * step - 1] = s[(2 * item + 2) * step - 1];
            s[(2 * item + 2) * step - 1] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first < n)
        out[first] = s[2 * item];
    if (first + 1 < n)
        out[first + 1] = s[2 * item + 1];
}

__kernel void add_blocks(__global float *out, __global const float *sums, uint n)
{
    const size_t first = 2 * get_global_id(0);
    const float before = sums[get_group_id(0)];
    if (first < n)
        out[first] += before;
    if (first + 1 < n)
        out[first + 1] += before;
}
