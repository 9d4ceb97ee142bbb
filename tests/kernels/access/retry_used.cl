// The old value of a sum by compare-and-swap is used.
//! kernel k global 64 local 8
//! buffer float 1 zero
//! buffer float 64 zero
__kernel void k(__global float *sum, __global float *out)
{
    uint found = as_uint(*(volatile __global float *)sum), expected;
    do {
        expected = found;
        found = atomic_cmpxchg((volatile __global uint *)sum, expected, as_uint(as_float(expected) + 1.0f));
    } while (found != expected);
    out[get_global_id(0)] = as_float(found);
}
