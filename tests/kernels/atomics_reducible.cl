// Atomics of one kind on each buffer, their results unused.
//! kernel counts global 512 local 16
//! buffer uint 512 random 1000
//! buffer uint 8 zero
//! buffer int 1 zero
//! expect hidden group
__kernel void counts(__global const uint *in, __global uint *bins, __global int *largest)
{
    uint v = in[get_global_id(0)];
    atomic_inc(&bins[v % 8]);
    atomic_add(bins + 3, 2u);
    (void)atomic_max(largest, (int)v + (int)get_group_id(0));
}
