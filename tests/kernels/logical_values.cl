// `1 && n`, `0 || n` and `n || 0` are 0 or 1, not n.
//! kernel both global 64 local 8
//! buffer int 1024 zero
//! value int 200
//! kernel either global 64 local 8
//! buffer int 1024 zero
//! value int 200
//! kernel first global 64 local 8
//! buffer int 1024 zero
//! value int 200
#define ON 1
__kernel void both(__global int *out, int n)
{
    const int i = get_global_id(0);
    out[2 * i + (ON && n)] = i + 7;
}
__kernel void either(__global int *out, int n)
{
    const int i = get_global_id(0);
    out[2 * i + (!ON || n)] = i + 7;
}
__kernel void first(__global int *out, int n)
{
    const int i = get_global_id(0);
    out[4 * i + (n || !ON) + (n && ON)] = i + 7;
}
