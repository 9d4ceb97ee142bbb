// A pointer to arrays is made of one to numbers, in global and in local memory.
//! kernel k global 64 local 8
//! buffer float 256 random 5
//! buffer float 256 zero
//! shared 128
__kernel void k(__global const float *in, __global float *out, __local float *near)
{
    const int i = get_global_id(0), l = get_local_id(0);
    __global const float(*from)[4] = (__global const float(*)[4])in;
    __global float(*to)[4] = (__global float(*)[4])out;
    __local float(*tile)[4] = (__local float(*)[4])near;
    for (int j = 0; j < 4; j++)
        tile[l][j] = from[i][j];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[i][0] = tile[7 - l][3];
    (*(to + i))[2] = ((__local float(*)[4])near)[l][1];
}
