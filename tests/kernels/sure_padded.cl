// Vectors of lengths that OpenCL doesn't have are padded, as those of three are.
typedef int int5 __attribute__((ext_vector_type(5)));
typedef short short6 __attribute__((ext_vector_type(6)));
typedef char char7 __attribute__((ext_vector_type(7)));
//! kernel five global 64 local 8
//! buffer int 512 random
//! kernel six global 64 local 8
//! buffer short 512 random
//! kernel seven global 64 local 8
//! buffer char 512 random
//! kernel three_halves global 64 local 8
//! buffer short 256 random
__kernel void five(__global int5 *o)
{
    int g = get_global_id(0);
    int5 v = (int5)(g, g + 1, g + 2, g + 3, g + 4);
    o[g] = v;
}
__kernel void six(__global short6 *o)
{
    int g = get_global_id(0);
    o[g] = (short6)(g, g + 1, g + 2, g + 3, g + 4, g + 5);
}
__kernel void seven(__global char7 *o)
{
    int g = get_global_id(0);
    o[g] = (char7)(g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6);
}
__kernel void three_halves(__global half *o)
{
    int g = get_global_id(0);
    vstorea_half3((float3)(g, 0.5f, 2.0f), g, o);
}
