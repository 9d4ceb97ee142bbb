// A pointer to one of two buffers.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! buffer int 64 random 9
//! value int 1
__kernel void k(__global int *out, __global const int *in, __global const int *more, int c)
{
    __global const int *p = c ? in : more;
    out[get_global_id(0)] = p[get_global_id(0)];
}
