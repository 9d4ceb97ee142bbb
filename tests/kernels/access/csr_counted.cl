// Where each row begins and how many it has, in two buffers: the sum of two loads.
//! kernel k
//! global 64
//! local 8
//! buffer int 64 zero
//! buffer ulong 64 rising 5
//! buffer ushort 64 random 5
//! buffer int 400 random 9
__kernel void k(__global int *out, __global const ulong *start, __global const ushort *count, __global const int *value)
{
    const size_t row = get_global_id(0);
    int sum = 0;
    for (uint j = 0; j < count[row]; j++)
        sum += value[start[row] + j];
    out[row] = sum;
}
