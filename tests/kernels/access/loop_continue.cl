// A loop that passes by what it writes.
//! kernel k global 16 local 4
//! buffer int 256 zero
//! buffer int 256 random 9
__kernel void k(__global int *out, __global const int *in)
{
    int r = get_global_id(0);
    for (int j = 0; j < 16; j++) {
        if (j == 3)
            continue;
        out[r * 16 + j] = 1;
    }
}
