// Pointers through helpers, structs and arrays; what is written is written through one of them.
//! kernel pointers global 64 local 8
//! buffer int 64 random 9
//! buffer int 64 random 9
//! buffer int 64 zero
//! expect hidden group
struct view { __global const int *from; __global int *to; int n; };
void copy(struct view *v, int i) { v->to[i] = v->from[i] + (int)get_group_id(0) + v->n; }
__global const int *choose(__global const int *a, __global const int *b, int c) { return c ? a : b; }
__kernel void pointers(__global const int *a, __global const int *b, __global int *out)
{
    int i = (int)get_global_id(0);
    struct view v = {choose(a, b, i & 1), out, 4};
    copy(&v, i);
}
