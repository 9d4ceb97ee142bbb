// Atomics that are no plain sums: no split.
//! kernel lock global 16 local 4
//! buffer int 1 zero
//! buffer int 1 zero
//! expect refused whole
__kernel void lock(__global int *latch, __global int *sum)
{
    atomic_add(sum, 2);
    atomic_xchg(latch, 1);
}
