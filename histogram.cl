/* SPDX-License-Identifier: MIT */
/* Counts how often each byte occurs. Each work-item counts into its own bins in local memory, so nothing is atomic; then
 * the work-group adds them up and writes its own 256 sums, which the host adds. */
#define BINS 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram(__global const uchar *data, __global uint *sums, uint bytes_per_group, ulong bytes)
{
    __local ushort bins[BINS][GROUP];
    const uint item = get_local_id(0);
    for (uint bin = 0; bin < BINS; bin++)
        bins[bin][item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const ulong first = (ulong)get_group_id(0) * bytes_per_group, end = min(first + bytes_per_group, bytes);
    for (ulong i = first + item; i < end; i += GROUP)
        bins[data[i]][item]++;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = item; bin < BINS; bin += GROUP) {
        uint sum = 0;
        for (uint i = 0; i < GROUP; i++)
            sum += bins[bin][(i + item) % GROUP];
        sums[get_group_id(0) * BINS + bin] = sum;
    }
}
