// A table in constant memory.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 66 random 9
__constant uchar table[3] = {0, 1, 2};
__kernel void k(__global int *out, __global const int *in)
{
    int s = 0;
    for (int j = 0; j < 3; j++)
        s += in[get_global_id(0) + table[j]];
    out[get_global_id(0)] = s;
}
