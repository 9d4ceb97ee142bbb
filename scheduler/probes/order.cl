/* SPDX-License-Identifier: MIT */
/* In which order warps or groups come: the clock that each sees, or the place in line that each draws. */

/* One value for each warp of 32 work-items, from its first one: out[base + group * warps + warp]. */
kernel void by_clock(global ulong *out, uint base)
{
#ifdef SYNC
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    ulong t;
    CLOCK(t);
    uint warps = (uint)get_local_size(0) / 32, local_id = (uint)get_local_id(0);
    if (local_id % 32 == 0)
        out[base + get_group_id(0) * warps + local_id / 32] = t;
}

/* counter[run] begins at 0. */
kernel void by_atomic(global ulong *out, uint base, global uint *counter, uint run)
{
#ifdef SYNC
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    uint warps = (uint)get_local_size(0) / 32, local_id = (uint)get_local_id(0);
    if (local_id % 32 == 0)
        out[base + get_group_id(0) * warps + local_id / 32] = atomic_inc(counter + run);
}
