// An integer sum by compare-and-swap is one that any order gives.
//! kernel k global 64 local 8
//! buffer uint 1 zero
__kernel void k(volatile __global uint *out)
{
    uint old;
    while (1) {
        old = *out;
        if (atomic_cmpxchg(out, old, old + 3) == old)
            break;
    }
}
