// The built-in functions in macros, object-like, function-like, nested, and passed to each other.
//! kernel macros global 60 12 local 5 4
//! buffer int 720 zero
//! expect hidden group
#define GROUP get_group_id(0)
#define OF(f, d) f(d)
#define ASK(what, d) OF(get_##what, d)
#define WIDTH ((int)get_global_size(0))
#define ROW (get_group_id \
             (1))
__kernel void macros(__global int *out)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    out[y * WIDTH + x] = (int)(GROUP + 100 * OF(get_group_id, 1) + ASK(num_groups, 0) * 10000 + ASK(num_groups, 1) * 7 + ROW);
}
