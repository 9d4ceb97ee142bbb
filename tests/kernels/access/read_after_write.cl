// What the work-items have surely written before they read it is not read: down a column and up again.
//! kernel k global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
//! kernel before global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
//! kernel loop global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
//! kernel leaves global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
//! kernel further global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
//! kernel rising global 8 local 2
//! buffer int 32 iota
//! buffer int 40 random
//! buffer int 32 random
//! value uint 4
__kernel void k(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = 0; y < height; y++)
        down[y * width + x] = in[y * width + x] + 1;
    for (uint y = height; y-- > 0;)
        out[y * width + x] = down[y * width + x] * 2;
}
// The other way round.
__kernel void before(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = height; y-- > 0;)
        out[y * width + x] = down[y * width + x] * 2;
    for (uint y = 0; y < height; y++)
        down[y * width + x] = in[y * width + x] + 1;
}
// One after the other within a loop: the first time round it reads what was there.
__kernel void loop(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = 0; y < height; y++) {
        for (uint i = 0; i < y; i++)
            down[i * width + x] = in[y * width + x] + 1;
        for (uint i = 0; i < height; i++)
            out[i * width + x] = down[i * width + x] * 2;
    }
}
// The first loop may end early.
__kernel void leaves(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = 0; y < height; y++) {
        if (in[y * width + x] > 20)
            break;
        down[y * width + x] = in[y * width + x] + 1;
    }
    for (uint y = 0; y < height; y++)
        out[y * width + x] = down[y * width + x] * 2;
}
// More is read than written.
__kernel void further(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = 0; y < height; y++)
        down[y * width + x] = in[y * width + x] + 1;
    for (uint y = 0; y < height; y++)
        out[y * width + x] = down[(y + 1) * width + x] * 2;
}
// Each time round one row more has been written: all of them in the end, but what is read before that was there.
__kernel void rising(__global const int *in, __global int *down, __global int *out, uint height)
{
    uint x = get_global_id(0), width = get_global_size(0);
    for (uint y = 0; y < height; y++) {
        for (uint i = y; i < y + 1; i++)
            down[i * width + x] = in[y * width + x] + 1;
        for (uint i = 0; i < height; i++)
            out[i * width + x] = down[i * width + x] * 2;
    }
}
