// What is added is the old value itself: no sum, its order decides about more than bits.
//! kernel k global 64 local 8
//! buffer float 1 zero
__kernel void k(volatile __global float *out)
{
    float old, new;
    do {
        old = *out;
        new = old + old;
    } while (atomic_cmpxchg((volatile __global uint *)out, as_uint(old), as_uint(new)) != as_uint(old));
}
