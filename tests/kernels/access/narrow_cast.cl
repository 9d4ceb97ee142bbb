// A cast to uchar bounds it.
//! kernel k global 64 local 8
//! buffer int 256 zero
__kernel void k(__global int *out)
{
    out[(uchar)(get_global_id(0) * 200)] = 1;
}
