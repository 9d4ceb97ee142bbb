// Where it writes is read from a buffer: the parts can only be told apart by what changed. 97 and 1024 have no divisor
// in common, so each element is written once.
//! kernel scatter global 1024 local 64
//! buffer uint 1024 iota
//! buffer uint 1024 random 1000
//! expect plain nogroup
__kernel void scatter(__global const uint *order, __global uint *out)
{
    uint i = order[get_global_id(0)];
    if (i % 3 != 1)
        out[i * 97 % 1024] = i;
}
