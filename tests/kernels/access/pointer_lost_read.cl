// Pointers that a loop makes and that are read behind it, Mandelbulber's formulas: of which argument isn't known, but
// nothing is written.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer int 64 random
//! buffer int 64 random
//! buffer int 64 random
//! value int 3
__kernel void k(__global int *out, __global const int *a, __global const int *c, __constant int *b, int n)
{
    __global const int *p = a;
    __constant int *q;
    int i = get_global_id(0), sum = 0;
    if (n < 1)
        return;
    for (int j = 0; j < n; j++) {
        q = &b[sum & 15];
        sum += *q;
    }
    if (n > 1)
        p = c;
    if (n > 2)
        p = a + 3;
    if (n > 3)
        p = c + 5;
    out[i] = *q + *p + sum;
}
