// A row's begin loaded twice is the same begin.
//! kernel k
//! global 64
//! local 8
//! buffer int 64 zero
//! buffer int 65 rising 5
//! buffer int 400 random 9
__kernel void k(__global int *out, __global const int *first, __global const int *value)
{
    const int row = get_global_id(0), n = first[row + 1] - first[row];
    int sum = 0;
    for (int j = 0; j < n; j++)
        sum += value[first[row] + j];
    out[row] = sum;
}
