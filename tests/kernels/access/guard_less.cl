// A guard against the end: the last part ends at n.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! value int 50
__kernel void k(__global int *out, __global const int *in, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[i];
}
