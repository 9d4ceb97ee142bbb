/* SPDX-License-Identifier: MIT */
/* One pass of a bitonic sort: each work-item puts one pair in order, 1 << distance_bits apart, rising or falling as the
 * block of 2 << stage elements in which it lies says. */
__kernel void compare_pairs(__global uint *data, uint stage, uint distance_bits, uint rising)
{
    const size_t i = get_global_id(0), distance = (size_t)1 << distance_bits;
    const size_t left = (i >> distance_bits << (distance_bits + 1)) | (i & (distance - 1)), right = left + distance;
    const uint a = data[left], b = data[right];
    const bool up = ((left >> (stage + 1)) & 1) == (rising ? 0 : 1);
    data[left] = up ? min(a, b) : max(a, b);
    data[right] = up ? max(a, b) : min(a, b);
}
