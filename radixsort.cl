/* SPDX-License-Identifier: MIT */
/* Sorts by four bits in each round: within each work-group, then over all. */
#include "local_scan.h"
#define DIGITS 16

/* Numbers as keys whose order as unsigned integers is the numbers' own: negative ones are turned over. */
__kernel void to_keys(__global uint *data)
{
    const size_t i = get_global_id(0);
    data[i] ^= data[i] & 0x80000000u ? 0xffffffffu : 0x80000000u;
}

__kernel void from_keys(__global uint *data)
{
    const size_t i = get_global_id(0);
    data[i] ^= data[i] & 0x80000000u ? 0x80000000u : 0xffffffffu;
}

/* Sorts the keys of a work-group by the digit at `shift`, one bit after the other, keeping the order of equal ones. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_groups(__global const uint *in,
                                                                            __global uint *out, uint shift)
{
    __local uint s[GROUP], keys[GROUP];
    const uint item = get_local_id(0);
    uint key = in[get_global_id(0)];
    for (uint bit = shift; bit < shift + 4; bit++) {
        const uint one = key >> bit & 1, zeros_before = sum_before(1 - one, s), zeros = s[GROUP - 1];
        keys[one ? zeros + item - zeros_before : zeros_before] = key;
        barrier(CLK_LOCAL_MEM_FENCE);
        key = keys[item];
    }
    out[get_global_id(0)] = key;
}

/* Where each digit begins in a sorted work-group, and how often it occurs: count[digit][group]. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count_digits(__global const uint *keys,
                                                                             __global uint *count, __global uint *begin,
                                                                             uint shift)
{
    __local uint digit[GROUP], first[DIGITS], end[DIGITS];
    const uint item = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    digit[item] = keys[get_global_id(0)] >> shift & (DIGITS - 1);
    if (item < DIGITS)
        first[item] = end[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 || digit[item] != digit[item - 1])
        first[digit[item]] = item;
    if (item == GROUP - 1 || digit[item] != digit[item + 1])
        end[digit[item]] = item + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS) {
        count[item * groups + group] = end[item] - first[item];
        begin[group * DIGITS + item] = first[item];
    }
}

/* Brings each key to its place: behind all smaller digits and behind its own digit in the groups before. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reorder(__global const uint *in, __global uint *out, __global const uint *before, __global const uint *begin, uint shift)
{
    const uint item = get_local_id(0), group = get_group_id(0), key = in[get_global_id(0)];
    const uint digit = key >> shift & (DIGITS - 1);
    out[before[digit * get_num_groups(0) + group] + item - begin[group * DIGITS + digit]] = key;
}
