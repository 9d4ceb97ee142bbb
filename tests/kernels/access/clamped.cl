// Neighbours clamped at the edges.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int i = get_global_id(0);
    out[i] = in[clamp(i - 2, 0, 63)] + in[min(i + 2, 63)];
}
