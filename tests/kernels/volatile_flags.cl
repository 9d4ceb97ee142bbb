// Volatile buffers, by which work-groups could speak to each other: no split where a loop's end may hang on what is read
// there, whoever has written it.
//! kernel flags global 16 local 4
//! buffer int 64 zero
//! expect plain
//! kernel sums global 16 local 4
//! buffer int 64 random 100
//! buffer int 64 zero
//! expect plain
//! kernel until_zero global 16 local 4
//! buffer int 64 zero
//! buffer int 64 zero
//! expect refused whole
__kernel void flags(__global volatile int *flag)
{
    flag[get_global_id(0)] = 1;
}
__kernel void sums(__global const volatile int *in, __global volatile int *out)
{
    for (int i = 0; i < 16; i++)
        if (in[i] > 50)
            out[get_global_id(0)] += in[i];
}
__kernel void until_zero(__global const volatile int *in, __global int *out)
{
    int n = 0;
    while (in[n] != 0)
        n++;
    out[get_global_id(0)] = n + 1;
}
