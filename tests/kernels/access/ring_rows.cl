// A torus, nine cells around each: whole rows, and one more at each end, which may be the other end's.
//! kernel k global 16 16 local 4 4
//! buffer uchar 256 zero
//! buffer uchar 256 random 9
//! value int 16
//! value int 16
__kernel void k(__global uchar *out, __global const uchar *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[((y + dy + height) % height) * width + (x + dx + width) % width];
    out[y * width + x] = sum;
}
