// A reduction in local memory; one result a group.
//! kernel k global 64 local 8
//! buffer int 8 zero
//! buffer int 64 random 9
//! shared 32
__kernel void k(__global int *out, __global const int *in, __local int *s)
{
    int l = get_local_id(0);
    s[l] = in[get_global_id(0)];
    for (int d = get_local_size(0) / 2; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            s[l] += s[l + d];
    }
    if (l == 0)
        out[get_group_id(0)] = s[0];
}
