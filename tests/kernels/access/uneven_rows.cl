// A padded pitch.
//! kernel k global 16 8 local 4 2
//! buffer int 160 zero
//! value int 20
__kernel void k(__global int *out, int pitch)
{
    out[get_global_id(1) * pitch + get_global_id(0)] = 1;
}
