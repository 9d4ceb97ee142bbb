// Words of one column, of which the guard leaves one: whole rows apart, and not at the begin of a row.
//! kernel k
//! global 10 4
//! local 2 1
//! buffer int 40 zero
//! buffer uchar 40 iota
//! buffer int 64 random 9
__kernel void k(__global int *out, __global const uchar *step, __global const int *value)
{
    const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (get_global_id(0) == 3)
        out[i] = value[step[i]];
}
