// The new value is made of what was read before the loop, not of what the swap expects.
//! kernel k global 64 local 8
//! buffer float 1 zero
__kernel void k(volatile __global float *out)
{
    float first = *out, old;
    do {
        old = *out;
    } while (atomic_cmpxchg((volatile __global uint *)out, as_uint(old), as_uint(first + 1.0f)) != as_uint(old));
}
