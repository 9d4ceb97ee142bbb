// get_global_linear_id.
//! options -cl-std=CL2.0
//! kernel k global 8 8 local 2 2
//! buffer int 64 zero
__kernel void k(__global int *out)
{
    out[get_global_linear_id()] = 1;
}
