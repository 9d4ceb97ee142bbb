/* SPDX-License-Identifier: MIT */
/* The K nearest neighbors of every point among the others. One work-item has one point and keeps its neighbors sorted
 * in its row of the results; the work-group brings the other points into local memory, a tile at a time. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
knn(__global const float *points, __global float *distances, __global uint *neighbors, uint n, uint k)
{
    __local float tile[TILE][DIMENSIONS];
    const uint me = get_global_id(0);
    const ulong row = (ulong)me * k;
    float mine[DIMENSIONS];
    for (uint d = 0; d < DIMENSIONS; d++)
        mine[d] = me < n ? points[(ulong)me * DIMENSIONS + d] : 0.0f;

    uint found = 0;
    for (uint first = 0; first < n; first += TILE) {
        const uint count = min((uint)TILE, n - first);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = get_local_id(0); i < count * DIMENSIONS; i += GROUP)
            tile[i / DIMENSIONS][i % DIMENSIONS] = points[(ulong)first * DIMENSIONS + i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < count; i++) {
            if (me >= n || first + i == me)
                continue;
            float distance = 0.0f;
            for (uint d = 0; d < DIMENSIONS; d++) {
                const float difference = tile[i][d] - mine[d];
                distance += difference * difference;
            }
            if (found == k && distance >= distances[row + k - 1])
                continue;
            uint place = found < k ? found++ : k - 1;
            for (; place > 0 && distances[row + place - 1] > distance; place--) {
                distances[row + place] = distances[row + place - 1];
                neighbors[row + place] = neighbors[row + place - 1];
            }
            distances[row + place] = distance;
            neighbors[row + place] = first + i;
        }
    }
}
