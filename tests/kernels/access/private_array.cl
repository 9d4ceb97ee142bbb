// Offsets in a private array: constant indices are followed.
//! kernel k global 64 local 8
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    int at[2];
    at[0] = get_global_id(0);
    at[1] = at[0] + 64;
    out[at[1]] = 1;
}
