/* SPDX-License-Identifier: MIT */
/* One step of PageRank over a graph that lists, for each page, the pages that link to it. Ranks are scaled so that
 * their mean is 1. */

/* What each page passes on along each of its links. */
__kernel void share_rank(__global const float *rank, __global const uint *links_out, __global float *share, uint pages)
{
    const size_t page = get_global_id(0);
    if (page < pages)
        share[page] = rank[page] / (float)links_out[page];
}

/* Collects the shares; each work-group also sums up by how much its pages' ranks changed. */
__kernel void gather_rank(__global const float *share, __global const uint *first, __global const uint *source,
                          __global float *rank, __global float *change, float damping, uint pages,
                          __local float *changes)
{
    const size_t page = get_global_id(0);
    const uint item = get_local_id(0);
    changes[item] = 0.0f;
    if (page < pages) {
        float sum = 0.0f;
        for (uint i = first[page]; i < first[page + 1]; i++)
            sum += share[source[i]];
        const float next = 1.0f - damping + damping * sum;
        changes[item] = fabs(next - rank[page]);
        rank[page] = next;
    }
    for (uint span = get_local_size(0) / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < span)
            changes[item] += changes[item + span];
    }
    if (item == 0)
        change[get_group_id(0)] = changes[0];
}
