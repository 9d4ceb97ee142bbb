// A pointer that can't be followed becomes a number: each argument's address may have.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random
//! value int 3
__kernel void k(__global int *out, __global const int *a, int n)
{
    __global const int *p;
    for (int j = 0; j < n; j++)
        p = j & 1 ? a + j : out;
    out[get_global_id(0)] = n > 0 ? (int)((size_t)p & 0) : 0;
}
