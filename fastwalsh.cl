/* SPDX-License-Identifier: MIT */
/* One pass of the fast Walsh transform: each work-item replaces one pair by its sum and its difference. */
__kernel void walsh_pass(__global float *data, uint step)
{
    const size_t i = get_global_id(0), left = i / step * 2 * step + i % step, right = left + step;
    const float a = data[left], b = data[right];
    data[left] = a + b;
    data[right] = a - b;
}
