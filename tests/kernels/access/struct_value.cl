// Sizes in a struct by value.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value ulong 214748364810
struct d {
    int first, n;
};
__kernel void k(__global int *out, struct d d)
{
    int i = get_global_id(0);
    if (i < d.n)
        out[i + d.first] = 1;
}
