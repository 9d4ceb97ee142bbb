// An index that wraps below 0 in size_t, and becomes right as an int.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int j = get_global_id(0) - 1;
    if (j >= 0)
        out[get_global_id(0)] = in[j];
}
