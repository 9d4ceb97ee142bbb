// Vectors of three: the fourth number is not surely written.
//! kernel k global 16 local 4
//! buffer int 64 zero
__kernel void k(__global int3 *out)
{
    out[get_global_id(0)] = (int3)(1, 2, 3);
}
