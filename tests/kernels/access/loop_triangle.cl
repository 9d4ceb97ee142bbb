// An inner loop that begins at the outer one.
//! kernel k global 16 local 4
//! buffer int 16 zero
//! buffer int 256 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int r = get_global_id(0), s = 0;
    for (int j = r; j < 16; j++)
        s += in[r * 16 + j];
    out[r] = s;
}
