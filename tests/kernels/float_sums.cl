// Floating-point sums by compare-and-swap, in the ways that programs write them: their order decides about bits, so they
// are only split where that is allowed. These sums are of small integers, the same in any order; what they were before
// an item's turn is not, but none is above 0 (times 0, the first of all gives 0 and the others -0).
//! kernel sum_union global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! expect whole
//! kernel sum_before global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! expect whole
//! kernel sum_as global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! expect whole
//! kernel greatest global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! expect whole
//! kernel sum_used global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! buffer float 512 zero
//! expect refused whole
//! kernel product global 512 local 16
//! buffer uint 512 random 1000
//! buffer float 8 zero
//! expect refused whole
//! kernel count_by_swap global 512 local 16
//! buffer uint 512 random 1000
//! buffer uint 8 zero
void add_union(volatile __global float *p, float by)
{
    union {
        uint u;
        float f;
    } old, new;
    do {
        old.f = *p;
        new.f = old.f + by;
    } while (atomic_cmpxchg((volatile __global uint *)p, old.u, new.u) != old.u);
}
void add_before(volatile __global float *p, float by)
{
    union {
        uint u;
        float f;
    } next, expected, found;
    found.f = *p;
    do {
        expected.f = found.f;
        next.f = by + expected.f;
        found.u = atomic_cmpxchg((volatile __global uint *)p, expected.u, next.u);
    } while (found.u != expected.u);
}
float add_as(volatile __global float *p, float by)
{
    volatile __global int *bits = (volatile __global int *)p;
    int old = *bits, expected;
    while (true) {
        expected = old;
        old = atomic_cmpxchg(bits, expected, as_int(as_float(expected) - by));
        if (old == expected)
            break;
    }
    return as_float(old);
}
__kernel void sum_union(__global const uint *in, __global float *bins)
{
    uint v = in[get_global_id(0)];
    add_union(&bins[v % 8], (float)(v % 16));
}
__kernel void sum_before(__global const uint *in, __global float *bins)
{
    uint v = in[get_global_id(0)];
    add_before(bins + v % 8, (float)(v % 16));
}
__kernel void sum_as(__global const uint *in, __global float *bins)
{
    uint v = in[get_global_id(0)];
    add_as(bins + v % 8, (float)(v % 16));
}
__kernel void greatest(__global const uint *in, __global float *bins)
{
    uint v = in[get_global_id(0)];
    float x = (float)(v * 31) + 0.5f, old, new;
    volatile __global float *p = &bins[v % 7];
    do {
        old = *p;
        new = fmax(old, x);
    } while (atomic_cmpxchg((volatile __global int *)p, *(int *)&old, *(int *)&new) != *(int *)&old);
}
__kernel void sum_used(__global const uint *in, __global float *bins, __global float *out)
{
    uint v = in[get_global_id(0)];
    out[get_global_id(0)] = add_as(bins + v % 8, 1.0f) <= 0.0f;
}
__kernel void product(__global const uint *in, __global float *bins)
{
    union {
        uint u;
        float f;
    } old, new;
    volatile __global float *p = &bins[in[get_global_id(0)] % 8];
    do {
        old.f = *p;
        new.f = old.f * 2;
    } while (atomic_cmpxchg((volatile __global uint *)p, old.u, new.u) != old.u);
}
__kernel void count_by_swap(__global const uint *in, volatile __global uint *bins)
{
    uint v = in[get_global_id(0)], old;
    do {
        old = bins[v % 8];
    } while (atomic_cmpxchg(&bins[v % 8], old, old + v) != old);
}
