// Every work-item reads all.
//! kernel k global 16 local 4
//! buffer int 16 zero
//! buffer int 50 random 9
//! value int 50
__kernel void k(__global int *out, __global const int *in, int n)
{
    int s = 0;
    for (int j = 0; j < n; j++)
        s += in[j];
    out[get_global_id(0)] = s;
}
