// A loop whose step is an argument.
//! kernel k global 16 local 4
//! buffer int 16 zero
//! buffer int 256 random 9
//! value int 4
__kernel void k(__global int *out, __global const int *in, int by)
{
    int r = get_global_id(0), s = 0;
    for (int j = 0; j < 16; j += by)
        s += in[r * 16 + j];
    out[r] = s;
}
