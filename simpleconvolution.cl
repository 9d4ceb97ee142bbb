/* SPDX-License-Identifier: MIT */
/* The weighted sum of the numbers around each; what lies outside counts as 0. */
__kernel void convolve(__global const uint *in, __constant float *mask, __global uint *out, int width, int height,
                       int side)
{
    const int i = get_global_id(0), x = i % width, y = i / width, half_side = side / 2;
    float sum = 0.5f;
    for (int my = 0; my < side; my++)
        for (int mx = 0; mx < side; mx++) {
            const int px = x + mx - half_side, py = y + my - half_side;
            if (px >= 0 && px < width && py >= 0 && py < height)
                sum += mask[my * side + mx] * (float)in[py * width + px];
        }
    out[i] = (uint)sum;
}
