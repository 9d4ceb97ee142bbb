// Signed bytes as indices, negative ones too.
//! kernel k
//! global 64
//! local 8
//! buffer int 64 zero
//! buffer char 64 around 20
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const char *step, __global const int *value)
{
    const int i = get_global_id(0);
    out[i] = value[step[i] + 32];
}
