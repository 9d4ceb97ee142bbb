// Buffers are chosen by an index into a private array of pointers. Where a store into the array is at an unknown place,
// the launch stays whole.
//! kernel chosen global 64 local 8
//! buffer int 64 random 50
//! buffer int 64 random 50
//! buffer int 192 zero
//! buffer int 64 zero
//! buffer int 64 zero
//! kernel stored_somewhere global 64 local 8
//! buffer int 64 zero
//! buffer int 64 zero
//! value int 1
//! expect whole
__kernel void chosen(__global const int *a, __global const int *b, __global int *x, __global int *y, __global int *z)
{
    const int i = get_global_id(0);
    __global const int *from[2] = {a, b};
    __global int *to[4] = {x, y, z, x + 64};
    for (int c = 0; c < 4; c++)
        to[(i + c) & 3][i] = from[c & 1][i ^ 1] + c;
}
__kernel void stored_somewhere(__global int *a, __global int *b, int n)
{
    const int i = get_global_id(0);
    __global int *p[2];
    p[n & 1] = a;
    p[0] = b;
    p[(i & 1) * n][i] = 5;
}
