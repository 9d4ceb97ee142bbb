// Vector loads and stores, swizzles, and a copy between address spaces. In OpenCL C 3.0, as PoCL 6.0 has no
// wait_group_events for 1.2: the linker finds none, and the process ends.
//! options -cl-std=CL3.0
//! kernel vectors global 32 local 8
//! buffer float 128 iota
//! buffer float 128 zero
//! expect hidden group
__kernel void vectors(__global const float *in, __global float *out)
{
    __local float tile[32];
    size_t g = get_group_id(0), l = get_local_id(0);
    event_t e = async_work_group_copy(tile, in + g * 32, 32, 0);
    wait_group_events(1, &e);
    float4 v = vload4(l, tile);
    v.xy = v.yx;
    vstore4(v.wzyx + (float)get_num_groups(0), get_global_id(0), out);
}
