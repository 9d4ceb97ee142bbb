// Vectors in memory.
//! kernel k global 16 local 4
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int4 *out, __global const int4 *in)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}
