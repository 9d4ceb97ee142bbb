// The same, written through: nothing is known of the kernel.
//! kernel k global 64 local 8
//! buffer int 128 zero
//! buffer int 64 random
//! value int 3
__kernel void k(__global int *out, __global const int *a, int n)
{
    __global int *p;
    for (int j = 0; j < n; j++)
        p = j & 1 ? out + 64 : out;
    if (n > 0)
        p[get_global_id(0)] = a[get_global_id(0)];
}
