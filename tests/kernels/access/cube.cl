// Three dimensions.
//! kernel k global 8 4 4 local 2 2 2
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    out[(get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0)] = 1;
}
