// The same, and a gather by what stands there: bounded by what two buffers hold.
//! kernel k
//! global 64
//! local 8
//! buffer float 64 zero
//! buffer int 65 rising 5
//! buffer int 400 random 30
//! buffer float 400 random 9
//! buffer float 90 random 9
__kernel void k(__global float *out, __global const int *first, __global const int *column, __global const float *value,
                __global const float *x)
{
    const int row = get_global_id(0);
    float sum = 0;
    for (int e = first[row]; e < first[row + 1]; e++)
        sum += value[e] * x[column[e] + 20];
    out[row] = sum;
}
