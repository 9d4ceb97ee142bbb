// A variable that doubles: bounded by its guard only.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    uint i = get_global_id(0);
    int s = 0;
    for (uint d = 1; d <= i; d *= 2)
        s += in[i - d];
    out[i] = s;
}
