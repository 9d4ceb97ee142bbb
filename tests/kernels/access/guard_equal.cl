// Only one work-item of each group writes.
//! kernel k global 64 local 8
//! buffer int 8 zero
__kernel void k(__global int *out)
{
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = 1;
}
