// vloadN and vstoreN.
//! kernel k global 16 local 4
//! buffer int 48 zero
//! buffer int 48 random 9
__kernel void k(__global int *out, __global const int *in)
{
    vstore3(vload3(get_global_id(0), in), get_global_id(0), out);
}
