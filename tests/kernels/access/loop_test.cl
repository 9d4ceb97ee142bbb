// A condition that reads: once more than the body runs, though it runs not at all.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random 9
//! buffer int 200 random 9
//! value int 10
//! value int 0
__kernel void k(__global int *out, __global const int *in, __global const int *more, int n, int none)
{
    int sum = 0;
    for (int i = 0; in[i] >= 0 && i < n; i++)
        sum += i;
    for (int i = 0; more[get_global_id(0)] > i && i < none; i++)
        sum += i;
    out[get_global_id(0)] = sum;
}
