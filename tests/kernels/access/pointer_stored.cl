// A pointer that is stored in memory: never split.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer ulong 64 zero
__kernel void k(__global int *out, __global ulong *where)
{
    where[get_global_id(0)] = (ulong)(out + 1);
}
