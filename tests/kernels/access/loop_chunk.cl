// A chunk for each work-item.
//! kernel k global 16 local 4
//! buffer int 100 zero
//! value int 100
//! value int 7
__kernel void k(__global int *out, int n, int c)
{
    int i = get_global_id(0), end = min((i + 1) * c, n);
    for (int j = i * c; j < end; j++)
        out[j] = 1;
}
