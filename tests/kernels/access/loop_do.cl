// A loop with do ... while.
//! kernel k global 16 local 4
//! buffer int 16 zero
//! buffer int 256 random 9
//! value int 16
__kernel void k(__global int *out, __global const int *in, int n)
{
    int r = get_global_id(0), s = 0, j = 0;
    do
        s += in[r * n + j];
    while (++j < n);
    out[r] = s;
}
