/* SPDX-License-Identifier: MIT */
/* Pass `by`: is the way from `from` to `to` shorter through `by`? */
__kernel void shorten(__global uint *distance, __global uint *through, uint nodes, uint by)
{
    const uint to = get_global_id(0), from = get_global_id(1);
    const uint detour = distance[from * nodes + by] + distance[by * nodes + to];
    if (detour < distance[from * nodes + to]) {
        distance[from * nodes + to] = detour;
        through[from * nodes + to] = by;
    }
}
