// A helper that writes.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value int 50
void put(__global int *p, int i, int n)
{
    if (i < n)
        p[i] = 1;
}
__kernel void k(__global int *out, int n)
{
    put(out, get_global_id(0), n);
}
