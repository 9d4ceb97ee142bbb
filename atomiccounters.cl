/* SPDX-License-Identifier: MIT */
/* All work-items count in the same global counter. */
__kernel void count_matches(__global const uint *numbers, __global uint *counter, uint wanted, ulong n)
{
    const size_t i = get_global_id(0);
    if (i < n && numbers[i] == wanted)
        atomic_inc(counter);
}
