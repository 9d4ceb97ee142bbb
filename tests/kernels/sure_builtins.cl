// Functions of the compiler that touch more than one element.
//! kernel copies global 64 local 8
//! buffer int 1024 random
//! buffer int 1024 random
//! kernel sets global 64 local 8
//! buffer int 1024 random
//! kernel copies_to_variable global 64 local 8
//! buffer int 1024 random
//! buffer int 1024 random 4
__kernel void copies(__global int *o, __global const int *in)
{
    int g = get_global_id(0);
    __builtin_memcpy(o + g * 16, in + g * 16, 40);
}
__kernel void sets(__global int *o)
{
    int g = get_global_id(0);
    __builtin_memset(o + g * 16, 0x55, 24);
}
__kernel void copies_to_variable(__global int *o, __global const int *in)
{
    int g = get_global_id(0), at[4] = {0, 0, 0, 0};
    __builtin_memcpy(at, in + g * 4, 16);
    o[g * 16 + at[3]] = g;
    o[g * 16 + 4 + at[2]] = g;
}
