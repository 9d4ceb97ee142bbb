// Atomics of one kind, results unused: reducible.
//! kernel k global 64 local 8
//! buffer int 8 zero
//! buffer int 64 random 8
__kernel void k(__global int *out, __global const int *in)
{
    atomic_add(&out[in[get_global_id(0)]], 1);
}
