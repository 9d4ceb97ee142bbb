// A built-in function's name in parentheses, as macros leave it.
#define SATURATED(type) (convert_##type##_sat)
//! kernel converts global 64 local 8
//! buffer uchar 256 zero
//! buffer float 256 random 300
__kernel void converts(__global uchar4 *out, __global const float4 *in)
{
    int i = get_global_id(0);
    out[i] = SATURATED(uchar4)(in[i]);
}
