/* SPDX-License-Identifier: MIT */
/* Viterbi's algorithm, in logarithms of probabilities. */

/* One observation: a work-group finds from which state one gets most probably to its own. */
__kernel void viterbi_step(__global const float *before, __global float *after, __global uint *came_from,
                           __global const float *transition, __global const float *emission, uint states,
                           uint observation, uint step, __local float *best, __local uint *where)
{
    const uint state = get_group_id(0), item = get_local_id(0);
    float highest = -INFINITY;
    uint from = 0;
    for (uint i = item; i < states; i += get_local_size(0)) {
        const float probability = before[i] + transition[(size_t)state * states + i];
        if (probability > highest) {
            highest = probability;
            from = i;
        }
    }
    best[item] = highest;
    where[item] = from;
    for (uint left = get_local_size(0) / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < left && (best[item + left] > best[item] ||
                            (best[item + left] == best[item] && where[item + left] < where[item]))) {
            best[item] = best[item + left];
            where[item] = where[item + left];
        }
    }
    if (item == 0) {
        after[state] = best[0] + emission[(size_t)observation * states + state];
        came_from[(size_t)step * states + state] = where[0];
    }
}

/* One work-item goes back from the most probable last state. */
__kernel void viterbi_path(__global const float *last, __global const uint *came_from, __global uint *path, uint states,
                           uint length)
{
    uint state = 0;
    for (uint i = 1; i < states; i++)
        if (last[i] > last[state])
            state = i;
    for (uint step = length; step-- > 0;) {
        path[step] = state;
        state = step > 0 ? came_from[(size_t)step * states + state] : state;
    }
}
