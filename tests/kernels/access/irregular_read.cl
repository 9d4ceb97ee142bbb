// An index that is loaded: reads anything, writes are known.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 64
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in, __global const int *more)
{
    out[get_global_id(0)] = more[in[get_global_id(0)]];
}
