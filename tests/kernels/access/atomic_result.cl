// An atomic whose result is used.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 1 zero
__kernel void k(__global int *out, __global int *n)
{
    out[atomic_inc(n)] = 1;
}
