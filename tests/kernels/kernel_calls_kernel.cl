// A kernel that is also called as a function.
//! kernel outer global 64 local 8
//! buffer int 64 zero
//! value int 5
//! expect hidden group
//! kernel inner global 64 local 8
//! buffer int 64 iota
//! value int 2
//! expect hidden group
__kernel void inner(__global int *a, int by)
{
    a[get_global_id(0)] += by * (int)get_group_id(0);
}
__kernel void outer(__global int *a, int by)
{
    inner(a, by + 1);
    inner(a, (by, 7));
    a[get_global_id(0)] += (int)get_num_groups(0);
}
