// The old value is read by an atomic that adds nothing, through a union.
//! kernel k global 64 local 8
//! buffer float 8 zero
void add(__global float *p, const float by)
{
    union {
        float f;
        unsigned int i;
    } old, new;
    __global volatile unsigned int *bits = (__global volatile unsigned int *)p;
    do {
        old.i = atomic_add(bits, 0);
        new.f = old.f + by;
    } while (atomic_cmpxchg(bits, old.i, new.i) != old.i);
}
__kernel void k(__global float *out)
{
    add(out + get_group_id(0), 1.0f);
}
