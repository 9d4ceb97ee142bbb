// A matrix narrower than the launch: the guard keeps rows apart along both dimensions.
//! kernel k global 16 8 local 4 2
//! buffer int 88 zero
//! value int 11
//! value int 8
__kernel void k(__global int *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        out[y * w + x] = 1;
}
