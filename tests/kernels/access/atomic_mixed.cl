// A plain store beside the atomics.
//! kernel k global 64 local 8
//! buffer int 1 zero
__kernel void k(__global int *out)
{
    if (get_global_id(0) == 0)
        out[0] = 0;
    atomic_add(out, 1);
}
