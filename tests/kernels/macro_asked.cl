// A directive that asks whether there is a macro by the name of a built-in function: there is one of ours.
//! kernel asked global 48 local 4
//! buffer int 48 zero
//! expect refused whole together
#if !defined(get_group_id) && defined(__OPENCL_VERSION__)
#define PLACE(i) (i)
#else
#define PLACE(i) (47 - (i))
#endif
__kernel void asked(__global int *out)
{
    out[PLACE(get_global_id(0))] = (int)get_group_id(0);
}
