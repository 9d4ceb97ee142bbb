// Helpers whose calls have as many arguments as they: compilers without variadic macros take the translation.
//! kernel arguments global 48 local 4
//! buffer int 48 iota
//! expect hidden group
#define APPLY(f, x) f(x, (1, 2))
int of_two(int a,
#ifdef WITH_ANOTHER
           int other,
#endif
           int b)
{
    return a * b + (int)get_group_id(0);
}
int of_none(void) { return (int)get_num_groups(0); }
__kernel void arguments(__global int *out)
{
    size_t i = get_global_id(0);
#ifdef WITH_ANOTHER
    out[i] = of_two(1, 2, 3);
#endif
    out[i] = of_two(out[i], of_two(2, 3)) + of_none() + APPLY(of_two, 4);
}
