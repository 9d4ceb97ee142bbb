// Read through a pointer of which it isn't known to which buffer it leads: any of them.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random
//! buffer int 64 random
//! value int 3
__kernel void k(__global int *out, __global const int *a, __global const int *b, int n)
{
    __global const int *p;
    int i = get_global_id(0);
    for (int j = 0; j <= n; j++)
        p = j & 1 ? a + i : b;
    out[i] = p[n & 7];
}
