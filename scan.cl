/* SPDX-License-Identifier: MIT */
#include "local_scan.h"

/* Replaces each number by the sum of those before it in its work-group; the sums of the groups go to `sums`. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_groups(__global uint *data, __global uint *sums,
                                                                            uint n)
{
    __local uint s[GROUP];
    const size_t i = get_global_id(0);
    const uint before = sum_before(i < n ? data[i] : 0, s);
    if (i < n)
        data[i] = before;
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = s[GROUP - 1];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void add_sums(__global uint *data,
                                                                         __global const uint *sums, uint n)
{
    const size_t i = get_global_id(0);
    if (i < n)
        data[i] += sums[get_group_id(0)];
}
