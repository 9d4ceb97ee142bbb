// A dimension that is no literal, and ones that are out of range.
//! kernel dims global 12 6 4 local 3 2 1 offset 2 4 6
//! buffer ulong 2592 zero
//! value int 2
//! expect hidden group
__kernel void dims(__global ulong *out, int last)
{
    size_t at = (get_global_id(2) - 6) * 72 + (get_global_id(1) - 4) * 12 + get_global_id(0) - 2;
    ulong sum = 0;
    for (int d = -1; d < last + 3; d++)
        sum = sum * 31 + get_group_id((uint)d) + 3 * get_num_groups(d) + 5 * get_global_size(d) + 7 * get_global_offset(d);
    uint d = 0;
    out[at * 2] = sum;
    sum = get_group_id(d++);
    out[at * 2 + 1] = sum * 100 + d * 10 + get_group_id(d ? 1 : 2);
}
