// What sometimes doesn't happen: it may be written, and never surely is.
//! kernel continued global 64 local 8
//! buffer int 8192 zero
//! buffer int 64 iota
//! value int 16
//! kernel returned global 64 local 8
//! buffer int 64 zero
//! buffer int 64 iota
//! value int 16
//! kernel branched global 64 local 8
//! buffer int 64 zero
//! buffer int 64 iota
//! value int 16
__kernel void continued(__global int *out, __global const int *in, int n)
{
    int at = 0;
    for (int k = 0; k < n; k++) {
        if (in[k] % 3 == 0)
            continue;
        at += 2;
        out[get_global_id(0) * 128 + at] = k;
    }
}
__kernel void returned(__global int *out, __global const int *in, int n)
{
    for (int k = 0; k < n; k++)
        if (in[k] == (int)get_global_id(0) * 7)
            return;
    out[get_global_id(0)] = 1;
}
__kernel void branched(__global int *out, __global const int *in, int n)
{
    int i = (int)get_global_id(0);
    if (i < n) {
        if (in[i] % 2)
            return;
        out[i] = 3;
    } else if (in[i] % 5 == 0) {
        return;
    }
    out[i] = 5;
}
