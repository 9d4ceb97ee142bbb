// fmax by compare-and-swap.
//! kernel k global 64 local 8
//! buffer float 1 zero
//! buffer float 64 random 8
__kernel void k(volatile __global float *out, __global const float *in)
{
    float old, new;
    do {
        old = *out;
        new = fmax(in[get_global_id(0)], old);
    } while (atomic_cmpxchg((volatile __global int *)out, *(int *)&old, *(int *)&new) != *(int *)&old);
}
