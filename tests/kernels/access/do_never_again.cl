// do ... while whose condition is never true: it reads, and changes variables, all the same.
//! kernel k global 64 local 8
//! buffer float 4096 zero
//! buffer uint 65 random 9
__kernel void k(__global float *o, __global const uint *in)
{
    int own = get_global_id(0), k = 0;
    do {
        o[own * 16 + k] = 1;
        ++k;
    } while (k < 3 && in[k & 63] != 3 && 5 == 15);
    int i = own;
    do
        o[own * 16 + 1] = 2;
    while (i += 8, 0);
    o[i * 16 + 2] = 3;
}
