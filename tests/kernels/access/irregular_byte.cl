// An index that is a loaded byte: 256 elements at most.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer uchar 64 random 250
//! buffer int 300 random 9
__kernel void k(__global int *out, __global const uchar *in, __global const int *more)
{
    out[get_global_id(0)] = more[in[get_global_id(0)]];
}
