// Three neighbouring elements each: one range per part.
//! kernel k global 64 local 8
//! buffer int 192 zero
__kernel void k(__global int *out)
{
    int i = 3 * get_global_id(0);
    out[i] = 1;
    out[i + 1] = 2;
    out[i + 2] = 3;
}
