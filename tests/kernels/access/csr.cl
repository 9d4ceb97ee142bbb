// Rows of a sparse matrix, each from first[i] to first[i + 1]: where they lie is data.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer uint 65 rising 5
//! buffer int 400 random 9
__kernel void k(__global int *out, __global const uint *first, __global const int *value)
{
    const size_t row = get_global_id(0);
    int sum = 0;
    for (uint e = first[row]; e < first[row + 1]; e++)
        sum += value[e];
    out[row] = sum;
}
