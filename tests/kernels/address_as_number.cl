// The address of a buffer becomes a number: no split.
//! kernel address global 16 local 4
//! buffer int 16 zero
//! expect refused whole
__kernel void address(__global int *out)
{
    ulong a = (ulong)out;
    out[get_global_id(0)] = (int)(a & 3);
}
