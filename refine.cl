/* SPDX-License-Identifier: MIT */
/* What the solution leaves of the right-hand side, one work-item for each equation, and what comes of it. */
__kernel void residual(__global const float *a, __global const float *b, __global const float *c,
                       __global const float *d, __global const float *x, __global float *left)
{
    const size_t at = get_global_id(0);
    const uint i = at % SIZE;
    const float before = i > 0 ? a[at] * x[at - 1] : 0.0f, after = i + 1 < SIZE ? c[at] * x[at + 1] : 0.0f;
    left[at] = d[at] - before - b[at] * x[at] - after;
}

__kernel void correct(__global float *x, __global const float *correction)
{
    x[get_global_id(0)] += correction[get_global_id(0)];
}
