// Reads what it writes: nothing is overwritten unread.
//! kernel k global 64 local 8
//! buffer int 64 random 9
__kernel void k(__global int *out)
{
    out[get_global_id(0)] *= 2;
}
