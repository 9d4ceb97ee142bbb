/* SPDX-License-Identifier: MIT */
/* In which order warps or groups come: the clock that each sees, or the place in line that each draws. */
#if PROBE_CLOCK == 1
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
#define CLOCK(t) t = clock_read_device()
#elif PROBE_CLOCK == 2
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#elif PROBE_CLOCK == 3
#define CLOCK(t) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory")
#elif PROBE_CLOCK == 4
#define CLOCK(t) t = __builtin_readcyclecounter()
#else
#define CLOCK(t) t = 0
#endif

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
