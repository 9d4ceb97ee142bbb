// Reads its neighbours; the guard keeps it inside.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int i = get_global_id(0);
    if (i > 0 && i < 63)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}
