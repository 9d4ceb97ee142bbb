// Helpers whose calls take their arguments from macros that are lists, beside one that doesn't.
//! kernel lists global 48 local 4
//! buffer int 48 iota
//! expect hidden group
#define PAIR 3, 4
#define APPLY(f, x) f(x, 1)
struct pair { int a, b; };
int of_list(int a, int b, int c) { return a + b * c + (int)get_group_id(0); }
int of_braces(struct pair p, int c) { return p.a * p.b + c + (int)get_num_groups(0); }
int applied(int a, int b) { return a - b + (int)get_global_size(0); }
__kernel void lists(__global int *out)
{
    size_t i = get_global_id(0);
    out[i] = of_list(PAIR, out[i]) + of_braces((struct pair){5, 6}, 7) + APPLY(applied, 9);
}
