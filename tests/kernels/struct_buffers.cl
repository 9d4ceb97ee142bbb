// Buffers of structs, and two launches on the same buffer.
//! kernel first global 24 local 4
//! buffer int 96 iota
//! expect hidden
//! kernel second global 24 local 3
//! same 0
//! value int 3
//! expect hidden group
struct item { int a, b; short c[2]; float d; };
__kernel void first(__global struct item *v)
{
    __global struct item *p = &v[get_global_id(0)];
    p->a += (int)get_global_size(0);
    p->c[1] = (short)p->b;
}
__kernel void second(__global struct item *v, int n)
{
    struct item x = v[get_global_id(0)];
    x.d = (float)(x.a * n + (int)get_group_id(0));
    v[get_global_id(0)] = x;
}
