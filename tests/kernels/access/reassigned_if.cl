// A variable that one branch changes.
//! kernel k global 64 local 8
//! buffer int 192 zero
//! value int 1
__kernel void k(__global int *out, int c)
{
    int i = get_global_id(0);
    if (c)
        i += 64;
    out[i] = 1;
}
