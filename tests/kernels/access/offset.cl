// A global offset.
//! kernel k global 32 local 8 offset 16
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    out[get_global_id(0)] = get_global_offset(0);
}
