// The same with shifts and masks.
//! kernel k global 64 local 8
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    uint i = get_global_id(0);
    out[((i >> 3) << 3) | (i & 7)] = 1;
}
