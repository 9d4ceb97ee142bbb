// do … while: what its condition says beside the bound ends it as well.
//! kernel by_value global 64 local 8
//! buffer int 1024 random
//! buffer float 1024 random 1
//! kernel by_number global 64 local 8
//! buffer int 1024 random
//! value int 5
//! kernel once global 64 local 8
//! buffer int 1024 random
//! value int 0
__kernel void by_value(__global int *o, __global const float *in)
{
    int g = get_global_id(0), k = 0;
    do {
        o[g * 16 + k] = g + k;
        k++;
    } while (k < 16 && in[g * 16 + k] > 0.5f);
}
__kernel void by_number(__global int *o, int n)
{
    int g = get_global_id(0), k = 0;
    do {
        o[g * 16 + k] = g + k;
        k++;
    } while (k < 16 && k < n);
}
__kernel void once(__global int *o, int n)
{
    int g = get_global_id(0), k = 0;
    do {
        o[g * 16 + k] = g + k;
        k++;
    } while (n && k < 16);
}
