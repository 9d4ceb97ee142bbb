// async_work_group_copy, both ways.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! shared 32
__kernel void k(__global int *out, __global const int *in, __local int *s)
{
    event_t e = async_work_group_copy(s, in + 8 * get_group_id(0), 8, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy(out + 8 * get_group_id(0), s, 8, 0);
    wait_group_events(1, &e);
}
