// A guard by what a buffer holds.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 iota
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *rank, __global const int *value)
{
    const int i = get_global_id(0);
    if (rank[i] < 20)
        out[i] = value[rank[i]];
}
