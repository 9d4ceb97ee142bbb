// Bytes of an int buffer, through a cast.
//! kernel k global 64 local 8
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    __global uchar *p = (__global uchar *)out;
    p[4 * get_global_id(0) + 1] = 1;
}
