// A product that may wrap in uint: nothing is known of it, but for the guard.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value uint 100000000
__kernel void k(__global int *out, uint s)
{
    uint j = (uint)get_global_id(0) * s;
    if (j < 64)
        out[j] = 1;
}
