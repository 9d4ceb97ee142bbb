// The new value is a number converted, not the bits of the sum.
//! kernel k global 64 local 8
//! buffer float 1 zero
__kernel void k(volatile __global float *out)
{
    float old, new;
    do {
        old = *out;
        new = old + 1.0f;
    } while (atomic_cmpxchg((volatile __global uint *)out, as_uint(old), (uint)new) != as_uint(old));
}
