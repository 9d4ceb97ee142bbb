// A loop that a macro makes, without a first part.
//! kernel k global 16 local 4
//! buffer int 16 zero
//! buffer int 256 random 9
//! value int 16
#define EACH(v, n) for (; v < n; v++)
__kernel void k(__global int *out, __global const int *in, int n)
{
    int r = get_global_id(0), s = 0, j = 0;
    EACH(j, n)
        s += in[r * n + j];
    out[r] = s;
}
