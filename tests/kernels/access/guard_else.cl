// Both branches write: each its own.
//! kernel k global 64 local 8
//! buffer int 128 zero
//! value int 20
__kernel void k(__global int *out, int a)
{
    int i = get_global_id(0);
    if (i < a)
        out[i] = 1;
    else
        out[64 + i] = 2;
}
