// An atomic's result goes through variables to a condition.
//! kernel k global 64 local 8
//! buffer int 1 zero
//! buffer int 64 zero
__kernel void k(__global int *n, __global int *out)
{
    int old = atomic_inc(n), next;
    next = old + 1;
    if (next > 5)
        out[get_global_id(0)] = 1;
}
