// The least of a row: INFINITY is a call of a compiler's own function, whose type has no size.
//! kernel k global 16 local 4
//! buffer float 16 zero
//! buffer float 256 random 9
//! value int 16
__kernel void k(__global float *out, __global const float *in, int n)
{
    int r = get_global_id(0);
    float least = 0;
    for (int i = 0; i < 2; i++) {
        least = INFINITY;
        for (int j = 0; j < n; j++)
            least = fmin(least, in[r * n + j] == HUGE_VALF ? NAN : in[r * n + j]);
    }
    out[r] = least;
}
