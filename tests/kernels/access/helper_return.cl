// A helper with two returns, whose result is an index.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
int edge(int i)
{
    if (i < 0)
        return 0;
    return i;
}
__kernel void k(__global int *out, __global const int *in)
{
    out[get_global_id(0)] = in[edge(get_global_id(0) - 1)];
}
