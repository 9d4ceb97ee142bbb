/* SPDX-License-Identifier: MIT */
/* Several levels of the Haar wavelet transform: a work-group takes twice as many numbers as it has work-items, and
 * halves them in local memory until one average is left. The differences of a level go to where the level begins. */
__kernel void haar(__global const float *in, __global float *differences, __global float *averages, uint length,
                   __local float *s)
{
    const uint item = get_local_id(0), items = get_local_size(0), group = get_group_id(0);
    s[item] = in[(size_t)group * 2 * items + item];
    s[item + items] = in[(size_t)group * 2 * items + items + item];

    for (uint left = items, level = length / 2; left > 0; left /= 2, level /= 2) {
        float a = 0.0f, b = 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < left) {
            a = s[2 * item];
            b = s[2 * item + 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < left) {
            s[item] = (a + b) * M_SQRT1_2_F;
            differences[level + group * left + item] = (a - b) * M_SQRT1_2_F;
        }
    }
    if (item == 0)
        averages[group] = s[0];
}
