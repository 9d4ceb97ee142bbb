// The grid-stride loop: each work-item goes on by the size of the whole launch.
//! kernel stride global 24 local 8
//! buffer int 200 random 50
//! buffer int 200 zero
//! value int 200
//! expect hidden
__kernel void stride(__global const int *in, __global int *out, int n)
{
    for (int i = (int)get_global_id(0); i < n; i += (int)get_global_size(0))
        out[i] = in[i] * 3 + 1;
}
