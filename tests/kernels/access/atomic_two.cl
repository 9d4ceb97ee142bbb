// Two kinds of atomics on one buffer.
//! kernel k global 64 local 8
//! buffer int 1 zero
__kernel void k(__global int *out)
{
    atomic_add(out, 1);
    atomic_max(out, 3);
}
