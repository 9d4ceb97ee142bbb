// Either of two conditions: no bound from it, but writes are perhaps.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value int 3
//! value int 50
__kernel void k(__global int *out, int a, int b)
{
    int i = get_global_id(0);
    if (i < a || i > b)
        out[i] = 1;
}
