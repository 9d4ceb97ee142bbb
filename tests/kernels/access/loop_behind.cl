// What a variable is behind a loop.
//! kernel k global 16 local 4
//! buffer int 128 zero
//! value int 5
__kernel void k(__global int *out, int n)
{
    int i = get_global_id(0), j = 0;
    for (; j + 2 <= n; j += 2)
        out[i * 8 + j] = 1;
    for (; j < n; j++)
        out[i * 8 + j] = 2;
}
