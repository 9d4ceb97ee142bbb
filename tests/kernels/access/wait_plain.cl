// The same without volatile: nothing in the loop could end it.
//! kernel k global 64 local 8
//! buffer int 1 zero
//! buffer int 64 zero
__kernel void k(__global int *flag, __global int *out)
{
    while (flag[get_group_id(0)] == 0)
        mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = 1;
}
