// What is written where a buffer says: apart, as it holds.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 iota
__kernel void k(__global int *out, __global const int *place)
{
    const int i = get_global_id(0);
    out[place[i]] = i;
}
