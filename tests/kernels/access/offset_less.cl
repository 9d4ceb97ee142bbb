// The offset taken off again.
//! kernel k global 32 local 8 offset 16
//! buffer int 32 zero
__kernel void k(__global int *out)
{
    out[get_global_id(0) - get_global_offset(0)] = 1;
}
