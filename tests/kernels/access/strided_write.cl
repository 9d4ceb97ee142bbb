// Every third element: the parts lie apart, the gaps belong to nobody.
//! kernel k global 64 local 8
//! buffer int 192 zero
__kernel void k(__global int *out)
{
    out[3 * get_global_id(0)] = 1;
}
