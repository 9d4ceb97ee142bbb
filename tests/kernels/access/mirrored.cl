// Indices mirrored at the borders by abs, abs_diff and select.
//! kernel k global 256 local 8
//! buffer int 256 random 100
//! buffer int 256 zero
//! value int 256
__kernel void k(__global const int *in, __global int *out, int n)
{
    const int i = get_global_id(0);
    const int left = abs(i - 3), right = select(i + 3, 2 * n - i - 5, i + 3 >= n);
    const int2 near = select((int2)(i - 1, i + 1), (int2)(1, n - 2), (int2)(i == 0 ? -1 : 0, i == n - 1 ? -1 : 0));
    out[i] = in[left] + in[right] + in[n - 1 - abs_diff(i + 2, n - 1)] + in[near.x] + in[near.y];
}
