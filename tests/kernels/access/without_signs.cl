// Formulas say where numbers are taken without their signs: (uint)(i - s) < n isn't i - s < n.
//! kernel k global 64 local 8
//! buffer int 192 zero
//! buffer int 192 random 9
//! value int 64
//! value int 5
__kernel void k(__global int *out, __global const int *in, int n, int s)
{
    int i = get_global_id(0);
    uint u = i;
    if ((uint)(i - s) < (uint)n)
        out[i] = in[(uint)(i - s) % (uint)n] + in[(uint)(i - s) >> 1];
    if (!((uint)(n - i) <= (uint)s))
        out[i] += in[min(u - 1u, (uint)n)] + in[(u + 3u) / 2u];
    if (get_global_id(0) < n && i - s < n)
        out[i] += in[(i + s) / 2] + in[max(i, s)] + in[i + n >> 1];
}
