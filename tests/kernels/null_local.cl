// No local size: the driver chooses it for each part, so nothing may depend on it.
//! kernel rows global 53 29 offset 3 7
//! buffer int 1537 zero
//! expect hidden nogroup
//! kernel unused global 64
//! buffer int 256 zero
//! expect hidden nogroup
//! kernel used global 64
//! buffer int 256 zero
//! expect hidden group whole
__kernel void rows(__global int *out)
{
    size_t width = get_global_size(0), x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    out[y * width + x] = (int)(width * 1000 + get_global_size(1) * 10 + get_global_offset(1) + get_global_size(2));
}
// What is asked of the work-group is of no effect.
int twice(int x)
{
    return 2 * x;
}
__kernel void unused(__global int *out)
{
    int group = get_group_id(0), item = twice(get_local_id(0)), both = group + item;
    size_t groups = get_num_groups(0), size;
    size = get_local_size(0) * groups;
    out[get_global_id(0)] = (int)get_global_size(0);
}
__kernel void used(__global int *out)
{
    int group = twice(get_group_id(0)), other = group;
    out[get_global_id(0)] = other * 0 + (int)get_global_size(0);
}
