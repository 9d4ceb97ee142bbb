// group * size + local is the global id again.
//! kernel k global 64 local 8
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    out[get_group_id(0) * get_local_size(0) + get_local_id(0)] = 1;
}
