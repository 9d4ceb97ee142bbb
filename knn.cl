/* SPDX-License-Identifier: MIT */
/* The K nearest neighbors of every point among the others. A work-group has one point and goes through the others, one
 * to each work-item at a time. What is nearer than the K-th nearest so far is gathered in local memory; once there may
 * be no room for the next ones, it is sorted and all but the nearest K forgotten. A candidate is one number, the bits of
 * its distance (which, not being negative, are in its order) above its index: so no two are equal, and the result
 * doesn't depend on who came first. */
#define NONE ULONG_MAX

/* Bitonic. CAPACITY is a power of two; what is behind `used` may be anything. */
void sort(__local ulong *found, uint used)
{
    uint length = 2;
    while (length < used)
        length *= 2;
    for (uint i = used + get_local_id(0); i < length; i += GROUP)
        found[i] = NONE;
    for (uint run = 2; run <= length; run *= 2)
        for (uint span = run / 2; span > 0; span /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = get_local_id(0); i < length / 2; i += GROUP) {
                const uint a = 2 * span * (i / span) + i % span, b = a + span;
                const ulong x = found[a], y = found[b];
                const bool rising = (a & run) == 0;
                if ((x > y) == rising) {
                    found[a] = y;
                    found[b] = x;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
knn(__global const float *points, __global float *distances, __global uint *neighbors, uint n, uint k)
{
    __local ulong found[CAPACITY];
    __local float mine[DIMENSIONS];
    __local uint count;
    const uint me = get_group_id(0), item = get_local_id(0);
    for (uint d = item; d < DIMENSIONS; d += GROUP)
        mine[d] = points[(ulong)me * DIMENSIONS + d];
    if (item == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    ulong limit = NONE;
    for (uint first = 0; first < n; first += GROUP) {
        const uint other = first + item;
        if (other < n && other != me) {
            float distance = 0.0f;
            for (uint d = 0; d < DIMENSIONS; d++) {
                const float difference = points[(ulong)other * DIMENSIONS + d] - mine[d];
                distance += difference * difference;
            }
            const ulong candidate = (ulong)as_uint(distance) << 32 | other;
            if (candidate < limit)
                found[atomic_inc(&count)] = candidate;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint used = count;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (used + GROUP > CAPACITY) {
            sort(found, used);
            limit = found[k - 1];
            if (item == 0)
                count = k;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    sort(found, count);
    for (uint i = item; i < k; i += GROUP) {
        distances[(ulong)me * k + i] = as_float((uint)(found[i] >> 32));
        neighbors[(ulong)me * k + i] = (uint)found[i];
    }
}
