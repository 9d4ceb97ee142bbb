// A helper of more parameters than any built-in function has: pyFAI's corrections of an image have 21.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random
//! value int 50
int weigh(__global const int *p, int a, int b, int c, int d, int e, int f, int g, int h, int j, int l, int m, int o,
          int q, int r, int s, __global const int *t, int i, int n)
{
    return i < n ? p[i] * a + b + c + d + e + f + g + h + j + l + m + o + q + r + s - t[n - 1 - i] : 0;
}
__kernel void k(__global int *out, __global const int *in, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = weigh(in, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, in, i, n);
}
