// As many entries in each row as a buffer says, at most a width.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer uchar 64 random 6
//! buffer int 640 random 9
//! value int 10
__kernel void k(__global int *out, __global const uchar *length, __global const int *value, int width)
{
    const int row = get_global_id(0);
    int sum = 0;
    for (int j = 0; j < length[row]; j++)
        sum += value[row * width + j];
    out[row] = sum;
}
