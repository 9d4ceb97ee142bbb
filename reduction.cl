/* SPDX-License-Identifier: MIT */
/* Each work-group sums up its share of the numbers; the work-items stride over all of them. */
__kernel void reduce(__global const int *numbers, __global int *sums, uint n, __local int *partial)
{
    const uint item = get_local_id(0);
    int sum = 0;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        sum += numbers[i];
    partial[item] = sum;
    for (uint left = get_local_size(0) / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < left)
            partial[item] += partial[item + left];
    }
    if (item == 0)
        sums[get_group_id(0)] = partial[0];
}
