// Neighbours clamped at the edges, by conditional operators.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int i = get_global_id(0), j = i - 2;
    j = j < 0 ? 0 : (j > 63 ? 63 : j);
    out[i] = in[j];
}
