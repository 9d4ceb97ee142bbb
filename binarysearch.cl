/* SPDX-License-Identifier: MIT */
/* One round of a search in a rising sequence without duplicates: each work-item looks at one of as many parts of
 * [begin, end) as there are work-items. At most one finds the key between the ends of its part, and says so. */
__kernel void narrow(__global const uint *sorted, __global uint4 *found, uint key, uint begin, uint end, uint part)
{
    const ulong first = begin + (ulong)get_global_id(0) * part;
    if (first >= end)
        return;
    const uint last = min((uint)first + part, end) - 1;
    if (sorted[first] <= key && key <= sorted[last])
        *found = (uint4)((uint)first, last + 1, 1, sorted[first]);
}
