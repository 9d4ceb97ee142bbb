/* SPDX-License-Identifier: MIT */
__kernel void vector_add(__global const float *a, __global const float *b, __global float *sum, ulong n)
{
    const size_t i = get_global_id(0);
    if (i < n)
        sum[i] = a[i] + b[i];
}
