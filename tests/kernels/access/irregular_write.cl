// Writes where data says: by comparison.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 iota
__kernel void k(__global int *out, __global const int *in)
{
    out[in[get_global_id(0)]] = 1;
}
