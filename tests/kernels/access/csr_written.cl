// The kernel writes the buffer that its loop's bounds come from: what it holds at the launch says nothing.
//! kernel k
//! global 64
//! local 8
//! buffer int 65 rising 5
//! buffer int 400 random 9
__kernel void k(__global int *first, __global const int *value)
{
    const int row = get_global_id(0);
    int sum = 0;
    for (int e = first[row]; e < first[row] + 2; e++)
        sum += value[e];
    first[row] = sum;
}
