// The built-in functions five helper calls deep, declared before they are defined.
//! kernel deep global 96 local 8 offset 16
//! buffer int 128 zero
//! expect hidden group
int level1(int a);
int level5(void)
{
    return (int)(get_group_id(0) * 1000 + get_num_groups(0) * 10 + get_global_offset(0) + get_global_size(0));
}
int level4(int a) { return level5() + a; }
int level3(int a, int b) { return level4(a) * 2 + b; }
static inline int level2(int a) { return level3(a, level5()); }
int level1(int a) { return level2(a) - a; }
__kernel void deep(__global int *out)
{
    int i = (int)get_global_id(0);
    out[i] = level1(i) + level5();
}
