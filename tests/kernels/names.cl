// The application uses the names that the translator would choose.
//! kernel names global 32 local 4
//! buffer int 32 zero
//! expect hidden group
typedef struct { int x; } __gs_t;
#define __gs_nil 3
int __gs(int a) { return a + __gs_nil; }
int __gs0_pick(int a) { return a + (int)get_group_id(0); }
__kernel void names(__global int *out)
{
    __gs_t t = {__gs(1)};
    out[get_global_id(0)] = t.x + __gs0_pick(2);
}
