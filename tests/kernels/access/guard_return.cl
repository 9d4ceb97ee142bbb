// The same guard as an early return.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! value uint 50
__kernel void k(__global int *out, __global const int *in, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    out[i] = in[i];
}
