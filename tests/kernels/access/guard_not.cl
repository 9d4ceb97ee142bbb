// A negated guard.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value int 10
__kernel void k(__global int *out, int a)
{
    int i = get_global_id(0);
    if (!(i < a))
        out[i] = 1;
}
