/* SPDX-License-Identifier: MIT */
/* Sums up to and with each element, in place. The elements of a level are those at stride - 1, 2 * stride - 1, ... */

/* A work-group sums up as many elements of the level as it has work-items, twice. */
__kernel void prefix_group(__global uint *data, uint n, uint stride, __local uint *s)
{
    const uint item = get_local_id(0), block = 2 * get_local_size(0);
    const ulong first = ((ulong)get_group_id(0) * block + 2 * item + 1) * stride - 1, second = first + stride;
    s[2 * item] = first < n ? data[first] : 0;
    s[2 * item + 1] = second < n ? data[second] : 0;

    uint step = 1;
    for (; step < block; step *= 2) { /* sums of pairs, of pairs of pairs, ... */
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint right = (item + 1) * 2 * step - 1;
        if (right < block)
            s[right] += s[right - step];
    }
    for (step /= 2; step > 0; step /= 2) { /* and down again, to what lies between */
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint right = (item + 1) * 2 * step - 1 + step;
        if (right < block)
            s[right] += s[right - step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first < n)
        data[first] = s[2 * item];
    if (second < n)
        data[second] = s[2 * item + 1];
}

/* Adds the sum up to the end of the block before to the elements of a level that aren't the last of their block. */
__kernel void prefix_add(__global uint *data, uint n, uint stride, uint block)
{
    const ulong element = get_global_id(0), at = (element + 1) * stride - 1;
    if (at < n && element >= block && (element + 1) % block != 0)
        data[at] += data[element / block * block * stride - 1];
}
