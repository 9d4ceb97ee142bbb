// async_work_group_strided_copy out of every second element.
//! kernel k global 32 local 8
//! buffer int 32 zero
//! buffer int 64 random 9
//! shared 32
__kernel void k(__global int *out, __global const int *in, __local int *s)
{
    event_t e = async_work_group_strided_copy(s, in + 16 * get_group_id(0), 8, 2, 0);
    wait_group_events(1, &e);
    out[get_global_id(0)] = s[get_local_id(0)];
}
