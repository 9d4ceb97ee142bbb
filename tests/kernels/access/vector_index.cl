// Coordinates in a vector.
//! kernel k global 16 8 local 4 2
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    p.x += 0;
    out[p.y * 16 + p.x] = 1;
}
