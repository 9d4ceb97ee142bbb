// A spin lock, taken in a loop without a condition.
//! kernel k global 64 local 8
//! buffer int 1 zero
//! buffer int 1 zero
__kernel void k(__global int *latch, __global int *sum)
{
    for (;;) {
        if (atomic_xchg(latch, 1) == 0) {
            sum[0] += 1;
            atomic_xchg(latch, 0);
            break;
        }
    }
}
