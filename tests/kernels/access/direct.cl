// One element per work-item: disjoint, all surely overwritten.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}
