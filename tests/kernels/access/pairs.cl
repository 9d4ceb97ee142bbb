// Butterflies, as in FFT: two elements a work-item.
//! kernel k global 32 local 8
//! buffer int 64 zero
//! value uint 2
__kernel void k(__global int *out, uint s)
{
    uint i = get_global_id(0), d = 1u << s;
    uint a = ((i >> s) << (s + 1)) | (i & (d - 1));
    out[a] = 1;
    out[a + d] = 2;
}
