// A block of each group, walked by its work-items.
//! kernel k global 64 local 8
//! buffer int 256 zero
__kernel void k(__global int *out)
{
    for (int j = get_local_id(0); j < 32; j += get_local_size(0))
        out[get_group_id(0) * 32 + j] = 1;
}
