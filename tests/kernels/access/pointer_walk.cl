// A pointer that a loop moves on.
//! kernel k global 16 local 4
//! buffer int 256 zero
__kernel void k(__global int *out)
{
    __global int *p = &out[16 * get_global_id(0)];
    for (int j = 0; j < 16; j++)
        *p++ = j;
}
