/* SPDX-License-Identifier: MIT */
/* Sobol's sequence: a work-group makes `span` successive numbers of one dimension; a point is the sum without carry of
 * the direction numbers that its index's Gray code names. */
#define BITS 32

__kernel void sobol(__global const uint *directions, __global float *out, uint vectors, uint span)
{
    __local uint mine[BITS];
    const uint dimension = get_group_id(1);
    for (uint bit = get_local_id(0); bit < BITS; bit += get_local_size(0))
        mine[bit] = directions[dimension * BITS + bit];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint begin = get_group_id(0) * span, end = min(begin + span, vectors);
    for (uint i = begin + get_local_id(0); i < end; i += get_local_size(0)) {
        const uint gray = i ^ i >> 1;
        uint x = 0;
        for (uint bit = 0; bit < BITS; bit++)
            x ^= (gray >> bit & 1) * mine[bit];
        out[(size_t)dimension * vectors + i] = (float)(x >> 8) / 16777216.0f;
    }
}
