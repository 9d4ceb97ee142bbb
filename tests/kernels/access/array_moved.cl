// Arithmetic with a parameter that is written as an array, and what is computed from it.
//! kernel k global 64 local 8
//! buffer int 256 zero
//! buffer int 64 random
void put(__global int *p, int i, int v) { p[i] = v; }
void set(int i, __global int a[], __global const int in[])
{
    put(a + 64, i, in[i]);
    put(i & 1 ? a : a, i, *(in + i));
    (a + 128)[i] = 3;
    __global int *p = 192 + a;
    p[i] = i;
}
__kernel void k(__global int out[], __global const int in[]) { set(get_global_id(0), out, in); }
