// Neighbours in a ring: the first and the last part read around its end. By remainders, a mask, a selection, and ifs.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! buffer int 64 random 9
//! buffer int 64 random 9
//! buffer int 64 random 9
//! value int 64
__kernel void k(__global int *out, __global const int *in, __global const int *masked, __global const int *chosen,
                __global const int *stepped, int n)
{
    int i = get_global_id(0), before = i - 2, behind = i + 2;
    if (before < 0)
        before += n;
    if (behind >= n)
        behind -= n;
    out[i] = in[(i + 1) % n] + in[((i - 1) % n + n) % n] + masked[(i - 1) & 63] + masked[(i + 3) & 63] +
             chosen[i == 0 ? n - 1 : i - 1] + stepped[before] + stepped[behind];
}
