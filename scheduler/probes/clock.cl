/* SPDX-License-Identifier: MIT */
/* CLOCK(t) reads the clock that the host has chosen into the ulong t. */
#if PROBE_CLOCK == 1
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
#define CLOCK(t) t = clock_read_device()
#elif PROBE_CLOCK == 2
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
#define CLOCK(t) t = clock_read_work_group()
#elif PROBE_CLOCK == 3
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#elif PROBE_CLOCK == 4
#define CLOCK(t) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory")
#elif PROBE_CLOCK == 5 && defined(__x86_64__)
/* A processor reads its counter ahead of what comes before it, unless a fence makes it wait. These are built-ins
 * because PoCL 6.0 ends the process when a kernel has assembly. */
#define CLOCK(t)                                                                                                       \
    {                                                                                                                  \
        __builtin_ia32_lfence();                                                                                       \
        t = __builtin_readcyclecounter();                                                                              \
        __builtin_ia32_lfence();                                                                                       \
    }
#elif PROBE_CLOCK == 5
#define CLOCK(t) t = __builtin_readcyclecounter()
#else
#define CLOCK(t) t = 0
#endif
