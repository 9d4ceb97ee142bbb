// The same with as_float, in a helper that hands on the old value, which nobody uses.
//! kernel k global 64 local 8
//! buffer float 8 zero
float add(volatile __global float *p, float by)
{
    volatile __global uint *bits = (volatile __global uint *)p;
    uint found = *bits, expected;
    do {
        expected = found;
        found = atomic_cmpxchg(bits, expected, as_uint(as_float(expected) + by));
    } while (found != expected);
    return as_float(found);
}
__kernel void k(__global float *out)
{
    add(out + get_group_id(0), 1.0f);
}
