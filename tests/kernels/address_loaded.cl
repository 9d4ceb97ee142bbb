// Pointers that lie in a buffer are one device's addresses: no split.
//! kernel loaded global 64 local 8
//! buffer ulong 128 zero
//! buffer int 64 zero
//! expect refused whole
//! kernel copied global 64 local 8
//! buffer ulong 128 zero
//! buffer int 64 zero
//! expect refused whole
//! kernel beside global 64 local 8
//! buffer ulong 128 zero
//! buffer int 64 zero
struct node { __global const int *value; int n; };
__kernel void loaded(__global const struct node *list, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = list[i].value ? *list[i].value : list[i].n;
}
__kernel void copied(__global const struct node *list, __global int *out)
{
    const int i = get_global_id(0);
    const struct node it = list[i];
    out[i] = it.value ? *it.value : it.n;
}
__kernel void beside(__global const struct node *list, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = list[i].n;
}
