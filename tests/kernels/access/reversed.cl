// Writes from the end.
//! kernel k global 64 local 8
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    out[get_global_size(0) - 1 - get_global_id(0)] = 1;
}
