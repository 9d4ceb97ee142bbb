// Side effects in conditions and indices.
//! kernel k global 32 local 8
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    int i = 2 * get_global_id(0);
    out[i++] = 1;
    if (i > 0 && (out[i] = 2))
        i = 0;
}
