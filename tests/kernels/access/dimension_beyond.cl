// Sizes in a dimension that there isn't: 1 by the standard, 0 on PoCL. Numbers are 0 everywhere.
//! kernel k global 64 local 8
//! buffer int 256 zero
__kernel void k(__global int *out)
{
    out[get_num_groups(3) * 64 + get_global_id(0)] = 1;
    out[128 + get_group_id(3) * 64 + get_global_id(0)] = 1;
}
