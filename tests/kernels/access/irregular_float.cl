// An index computed in floating point.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int j = (int)(get_global_id(0) * 0.5f);
    out[get_global_id(0)] = in[clamp(j, 0, 63)];
}
