// One component of a vector in memory: the compiler writes all four back.
//! kernel k global 16 local 4
//! buffer int 64 zero
__kernel void k(__global int4 *out)
{
    out[get_global_id(0)].y = 1;
}
