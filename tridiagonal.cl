/* SPDX-License-Identifier: MIT */
/* Parallel cyclic reduction: a work-group solves one system of SIZE equations a x[i-1] + b x[i] + c x[i+1] = d. Each
 * step takes from each equation the two that are `reach` away, and so doubles the reach, until each stands alone. */
__kernel __attribute__((reqd_work_group_size(SIZE, 1, 1))) void
solve(__global const float *a, __global const float *b, __global const float *c, __global const float *d,
      __global float *x)
{
    __local float la[SIZE], lb[SIZE], lc[SIZE], ld[SIZE];
    const uint i = get_local_id(0);
    const size_t at = get_global_id(0);
    float na = a[at], nb = b[at], nc = c[at], nd = d[at];
    for (uint reach = 1; reach < SIZE; reach *= 2) {
        la[i] = na;
        lb[i] = nb;
        lc[i] = nc;
        ld[i] = nd;
        barrier(CLK_LOCAL_MEM_FENCE);
        float ea = 0.0f, ec = 0.0f;
        if (i >= reach) {
            const float f = na / lb[i - reach];
            nb -= f * lc[i - reach];
            nd -= f * ld[i - reach];
            ea = -f * la[i - reach];
        }
        if (i + reach < SIZE) {
            const float f = nc / lb[i + reach];
            nb -= f * la[i + reach];
            nd -= f * ld[i + reach];
            ec = -f * lc[i + reach];
        }
        na = ea;
        nc = ec;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[at] = nd / nb;
}
