// Pointer arithmetic.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const int *in)
{
    __global int *p = out + 8 * get_group_id(0);
    p += get_local_id(0);
    *p = *(in + get_global_id(0));
}
