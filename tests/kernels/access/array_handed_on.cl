// Parameters written as arrays, handed on: sasmodels' layers of a particle.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random
//! value int 3
struct table {
    int n, thickness[4];
};
int inner(int n, int thickness[])
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r += thickness[i & 3];
    return r;
}
int outer(int mode, int n, int thickness[])
{
    return mode ? inner(n, thickness) : inner(n - 1, (thickness)) + *thickness;
}
__kernel void k(__global int *out, __global const int *in, int mode)
{
    int i = get_global_id(0);
    struct table t = {3, {in[i], 1, 2, 3}};
    out[i] = outer(mode, t.n, t.thickness);
}
