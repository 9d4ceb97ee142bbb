// A loop changes, through pointers, a variable from which an index is computed: by `p->x` of a vector, by a pointer that
// a struct hands on.
//! kernel by_component global 64 local 8
//! buffer int 64 zero
//! buffer int 1024 random 1000
//! value int 4
//! kernel by_struct global 64 local 8
//! buffer int 64 zero
//! buffer int 1024 random 1000
//! value int 4
struct where {
    int *at;
};
void advance(struct where w) { *w.at += 128; }
__kernel void by_component(__global int *out, __global const int *in, int n)
{
    int2 v = (int2)((int)get_global_id(0), 0), *p = &v;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[v.x];
        p->x += 128;
    }
    out[get_global_id(0)] = sum;
}
__kernel void by_struct(__global int *out, __global const int *in, int n)
{
    int at = (int)get_global_id(0), sum = 0;
    struct where w = {&at};
    for (int i = 0; i < n; i++) {
        sum += in[at];
        advance(w);
    }
    out[get_global_id(0)] = sum;
}
