// Formulas mean what the kernel computes: in C & binds less than ==, | less than &, and s * (i % n) needs its brackets.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 32768 random 9
//! value int 64
//! value int 5
__kernel void k(__global int *out, __global const int *in, int n, int s)
{
    int i = get_global_id(0);
    if ((s & 3) == 1)
        out[i] = in[(i | s) & 4095] + in[(i & s) | 64] + in[(i ^ s) & 4095];
    if ((s & (n == 64)) != 7)
        out[i] += in[(i & s) ^ (n | 1)] + in[(s == n) == (n == i)];
    if (i >= (s & 7))
        out[i] += in[s * (i % n)] + in[s * (n / (i + 1))] + in[s * i % n] + in[n * n / (s * (i + 1))];
    if ((s < n) == (7 < n))
        out[i] += in[(i << 2) & 15] + in[i << (s & 2)] + in[i + (n - s)] + in[i - (s - n)] + in[s * i * n];
}
