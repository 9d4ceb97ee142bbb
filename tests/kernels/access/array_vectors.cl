// Components of vectors behind a parameter that is written as an array.
//! kernel k global 32 local 4
//! buffer int 1024 zero
//! buffer int 128 random
void one(__global int4 a[], __global const int4 in[]) { a->x = in->y; }
__kernel void k(__global int4 out[], __global const int4 in[])
{
    int i = get_global_id(0);
    one(out + 2 * i, in + i);
    vstore4(in[i], 2 * i + 1, (__global int *)(out));
    (out + 64 + i)->zw = (in + i)->xy;
}
