// Row and column out of one index, joined again.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! value uint 8
__kernel void k(__global int *out, uint w)
{
    uint i = get_global_id(0);
    uint row = i / w, column = i % w;
    out[row * w + column] = 1;
}
