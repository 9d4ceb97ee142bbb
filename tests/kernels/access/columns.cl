// A transposed write.
//! kernel k global 16 8 local 4 2
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    out[get_global_id(0) * get_global_size(1) + get_global_id(1)] = 1;
}
