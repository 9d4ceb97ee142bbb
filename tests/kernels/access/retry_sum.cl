// A floating-point sum by compare-and-swap: one atomic, whose order decides about bits.
//! kernel k global 64 local 8
//! buffer float 8 zero
//! buffer float 64 random 8
__kernel void k(__global float *out, __global const float *in)
{
    union {
        uint u;
        float f;
    } old, new;
    volatile __global float *p = &out[get_global_id(0) % 8];
    do {
        old.f = *p;
        new.f = old.f + in[get_global_id(0)];
    } while (atomic_cmpxchg((volatile __global uint *)p, old.u, new.u) != old.u);
}
