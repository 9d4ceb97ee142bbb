// A window of rows.
//! kernel k global 16 8 local 4 2
//! buffer int 128 zero
//! buffer int 240 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int x = get_global_id(0), y = get_global_id(1), s = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 5; dx++)
            s += in[(y + dy) * 20 + x + dx];
    out[y * 16 + x] = s;
}
