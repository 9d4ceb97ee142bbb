// Atomics on local memory are no matter.
//! kernel bins global 256 local 32
//! buffer uint 256 random 1000
//! buffer uint 64 zero
//! expect hidden group
__kernel void bins(__global const uint *in, __global uint *out)
{
    __local uint count[8];
    if (get_local_id(0) < 8)
        count[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count[in[get_global_id(0)] % 8]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 8)
        out[get_group_id(0) * 8 + get_local_id(0)] = count[get_local_id(0)];
}
