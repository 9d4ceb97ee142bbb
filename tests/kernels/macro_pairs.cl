// One macro declares functions of which only one needs the hidden argument: all get it.
//! kernel pairs global 48 local 4
//! buffer int 48 iota
//! expect hidden group
#define DEFINE(name, what) int name(int q) { return what; }
DEFINE(needs_it, q + (int)get_group_id(0))
DEFINE(does_not, q * 3)
__kernel void pairs(__global int *out)
{
    size_t i = get_global_id(0);
    out[i] = needs_it(1) * 100 + does_not(out[i]);
}
