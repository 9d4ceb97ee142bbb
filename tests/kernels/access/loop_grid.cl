// A grid-stride loop.
//! kernel k global 16 local 4
//! buffer int 100 zero
//! buffer int 100 random 9
//! value int 100
__kernel void k(__global int *out, __global const int *in, int n)
{
    for (int j = get_global_id(0); j < n; j += get_global_size(0))
        out[j] = in[j];
}
