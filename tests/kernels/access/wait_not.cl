// Tasks drawn from a counter: nobody is waited for, but which item gets which is chance.
//! kernel k global 64 local 8
//! buffer int 1 zero
//! buffer int 64 zero
__kernel void k(__global int *next, __global int *out)
{
    int task;
    while ((task = atomic_inc(next)) < 64)
        out[task] = task;
}
