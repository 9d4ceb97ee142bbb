// Cases that write to different places.
//! kernel k global 64 local 8
//! buffer int 256 zero
//! value int 2
__kernel void k(__global int *out, int c)
{
    int i = get_global_id(0);
    switch (c) {
    case 0:
        out[i] = 1;
        break;
    case 1:
    case 2:
        out[64 + i] = 1;
        break;
    default:
        out[128 + i] = 1;
    }
}
