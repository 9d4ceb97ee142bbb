/* SPDX-License-Identifier: MIT */
/* Sorts many arrays of keys with their values by bitonic networks; lengths are powers of two. A work-group compares
 * BLOCK pairs; blocks of 2 * BLOCK elements that fit into local memory are sorted and merged there. */
static void compare_local(__local uint *keys, __local uint *values, uint left, uint right, uint rising)
{
    if ((keys[left] > keys[right]) == (rising != 0)) {
        const uint key = keys[left], value = values[left];
        keys[left] = keys[right];
        values[left] = values[right];
        keys[right] = key;
        values[right] = value;
    }
}

static void load(__global const uint *from, __local uint *to, size_t start)
{
    const uint item = get_local_id(0);
    to[item] = from[start + item];
    to[item + BLOCK] = from[start + item + BLOCK];
}

static void store(__global uint *to, __local const uint *from, size_t start)
{
    const uint item = get_local_id(0);
    to[start + item] = from[item];
    to[start + item + BLOCK] = from[item + BLOCK];
}

/* Sorts runs of `length` elements up to 2 * BLOCK; where the arrays are longer, every other run falls. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void
sort_local(__global const uint *in_keys, __global const uint *in_values, __global uint *out_keys,
           __global uint *out_values, uint length, uint array_length)
{
    __local uint keys[2 * BLOCK], values[2 * BLOCK];
    const uint item = get_local_id(0);
    const size_t start = get_group_id(0) * (size_t)(2 * BLOCK);
    load(in_keys, keys, start);
    load(in_values, values, start);
    for (uint run = 2; run <= length; run *= 2)
        for (uint stride = run / 2; stride > 0; stride /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint left = 2 * item - (item & (stride - 1));
            compare_local(keys, values, left, left + stride, ((start + left) & run & (array_length - 1)) == 0);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(out_keys, keys, start);
    store(out_values, values, start);
}

/* One pass of a merge of runs of `run` elements, in global memory. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void
merge_global(__global uint *keys, __global uint *values, uint run, uint stride, uint array_length)
{
    const size_t i = get_global_id(0), left = 2 * i - (i & (stride - 1)), right = left + stride;
    const uint a = keys[left], b = keys[right], va = values[left], vb = values[right];
    const bool rising = (left & run & (array_length - 1)) == 0, swap = (a > b) == rising;
    keys[left] = swap ? b : a;
    keys[right] = swap ? a : b;
    values[left] = swap ? vb : va;
    values[right] = swap ? va : vb;
}

/* The passes of a merge that stay within a block. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void merge_local(__global uint *all_keys,
                                                                            __global uint *all_values, uint run,
                                                                            uint array_length)
{
    __local uint keys[2 * BLOCK], values[2 * BLOCK];
    const uint item = get_local_id(0);
    const size_t start = get_group_id(0) * (size_t)(2 * BLOCK);
    load(all_keys, keys, start);
    load(all_values, values, start);
    for (uint stride = BLOCK; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint left = 2 * item - (item & (stride - 1));
        compare_local(keys, values, left, left + stride, ((start + left) & run & (array_length - 1)) == 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(all_keys, keys, start);
    store(all_values, values, start);
}
