// An atomic in a helper that hands on a result which nobody uses.
//! kernel k global 64 local 8
//! buffer int 1 zero
int count(__global int *p)
{
    return atomic_inc(p);
}
__kernel void k(__global int *out)
{
    count(out);
}
