// An atomic that adds nothing, outside of such a loop: what it finds is used.
//! kernel k global 64 local 8
//! buffer uint 64 zero
//! buffer uint 1 zero
__kernel void k(__global uint *out, volatile __global uint *count)
{
    atomic_inc(count);
    out[get_global_id(0)] = atomic_add(count, 0u);
}
