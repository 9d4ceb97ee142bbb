/* SPDX-License-Identifier: MIT */
/* Counts how often each byte occurs: a work-group counts atomically in local memory and then adds its bins atomically
 * to the result, which all work-groups share. */
#define BINS 256

__kernel void histogram(__global const uint *data, __global uint *bins, uint words_per_group, uint words)
{
    __local uint mine[BINS];
    for (uint bin = get_local_id(0); bin < BINS; bin += get_local_size(0))
        mine[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint first = get_group_id(0) * words_per_group, end = min(first + words_per_group, words);
    for (uint i = first + get_local_id(0); i < end; i += get_local_size(0)) {
        const uint four = data[i];
        atomic_inc(&mine[four & 255]);
        atomic_inc(&mine[four >> 8 & 255]);
        atomic_inc(&mine[four >> 16 & 255]);
        atomic_inc(&mine[four >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < BINS; bin += get_local_size(0))
        if (mine[bin])
            atomic_add(&bins[bin], mine[bin]);
}
