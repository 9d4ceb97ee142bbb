// The value of a statement expression is that of its last statement: the atomic's result is used.
//! kernel k global 64 local 8
//! buffer int 1 zero
//! buffer int 64 zero
__kernel void k(__global int *n, __global int *out)
{
    out[get_global_id(0)] = ({ atomic_inc(n); });
}
