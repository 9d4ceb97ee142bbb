// Local memory and barriers; the group's number picks the place of its result.
//! kernel sums global 256 local 16
//! buffer int 256 random 1000
//! buffer int 16 zero
//! shared 64
//! expect hidden group
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void sums(__global const int *in, __global int *out, __local int *part)
{
    __local int extra;
    size_t l = get_local_id(0);
    if (l == 0)
        extra = (int)get_num_groups(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
        if (l < n)
            part[l] += part[l + n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0] + extra;
}
