/* SPDX-License-Identifier: MIT */
/* y = M x. A work-group takes every get_num_groups(0)th row; its work-items read the row side by side. */
__kernel void mat_vec_mul(__global const float *m, __global const float *x, __global float *y, uint width, uint rows,
                          __local float *partial)
{
    const uint item = get_local_id(0);
    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        float sum = 0.0f;
        for (uint i = item; i < width; i += get_local_size(0))
            sum += m[(size_t)row * width + i] * x[i];
        partial[item] = sum;
        for (uint left = get_local_size(0) / 2; left > 0; left /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (item < left)
                partial[item] += partial[item + left];
        }
        if (item == 0)
            y[row] = partial[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
