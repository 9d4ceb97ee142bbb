// Neighbouring bytes, written by different parts in turn.
//! kernel bytes global 77 6 local 7 2
//! buffer uchar 462 random 256
//! buffer uchar 462 random 256
//! expect plain
__kernel void bytes(__global const uchar *in, __global uchar *out)
{
    size_t at = get_global_id(0) * 6 + get_global_id(1);
    out[at] = (uchar)(in[461 - at] + 1);
}
