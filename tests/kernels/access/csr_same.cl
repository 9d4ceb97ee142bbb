// The row bounds are an output as well, by another argument.
//! kernel k
//! global 64
//! local 8
//! buffer int 65 rising 5
//! same 0
//! buffer int 400 random 9
__kernel void k(__global int *out, __global const int *first, __global const int *value)
{
    const int row = get_global_id(0);
    int sum = 0;
    for (int e = first[row]; e < first[row] + 2; e++)
        sum += value[e];
    out[row] = sum;
}
