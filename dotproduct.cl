/* SPDX-License-Identifier: MIT */
__kernel void dot_product(__global const float4 *a, __global const float4 *b, __global float *product, ulong n)
{
    const size_t i = get_global_id(0);
    if (i < n)
        product[i] = dot(a[i], b[i]);
}
