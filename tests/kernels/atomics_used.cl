// The result of an atomic is used: no split.
//! kernel order global 64 local 8
//! buffer uint 1 zero
//! buffer uint 64 zero
//! expect refused whole
__kernel void order(__global uint *next, __global uint *out)
{
    out[atomic_inc(next) & 63] = 1;
}
