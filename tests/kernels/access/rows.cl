// Two dimensions, row-major: dimension 1 keeps ranges whole, dimension 0 interleaves them.
//! kernel k global 16 8 local 4 2
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 1;
}
