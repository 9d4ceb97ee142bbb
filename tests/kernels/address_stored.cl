// A pointer made from a number that was an address: no split.
//! kernel address global 16 local 4
//! buffer int 16 zero
//! expect refused whole
union box { __global int *p; ulong n; };
__kernel void address(__global int *out)
{
    union box b;
    b.p = out;
    *(__global int *)(b.n + 4 * get_global_id(0)) = 5;
}
