// Guards in one another.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value int 40
//! value int 8
__kernel void k(__global int *out, int a, int b)
{
    int i = get_global_id(0);
    if (i < a)
        if (i > b)
            out[i] = 1;
}
