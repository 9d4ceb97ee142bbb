/* SPDX-License-Identifier: MIT */
/* For all kernels of the program, which is compiled in parts and linked. */
#ifndef LOCAL_SCAN_H
#define LOCAL_SCAN_H
#define GROUP 256

/* The sum of the values of the work-items before this one; s[GROUP - 1] is the sum of all. */
static uint sum_before(uint value, __local uint *s)
{
    const uint item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); /* somebody may still read the last sums */
    s[item] = value;
    for (uint step = 1; step < GROUP; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint left = item >= step ? s[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[item] += left;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return s[item] - value;
}

#endif
