/* SPDX-License-Identifier: MIT */
/* Cycles of K repetitions of one instruction between two readings of the clock, for each warp of one group. The probe
 * runs each kernel with two values of K and takes the difference, so that what surrounds the instructions cancels.
 * On NVIDIA the arithmetic is volatile PTX, which the compiler neither merges nor moves over the clock. */

#ifdef PROBE_NVIDIA
#define ADD(r) asm volatile("add.f32 %0, %0, %1;" : "+f"(r) : "f"(y))
#define MUL(r) asm volatile("mul.f32 %0, %0, %1;" : "+f"(r) : "f"(y))
#define MAD(r) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(r) : "f"(y))
#define EX2(r) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(r))
#define COS(r) asm volatile("cos.approx.ftz.f32 %0, %0;" : "+f"(r))
#define RSQRT(r) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(r))
#else
#define ADD(r) r = r + y
#define MUL(r) r = r * y
#define MAD(r) r = fma(r, y, y)
#define EX2(r) r = native_exp2(r)
#define COS(r) r = native_cos(r)
#define RSQRT(r) r = native_rsqrt(r)
#endif

/* Where arithmetic can be moved over the clock, its operand must come from a volatile load behind the first reading. */
#ifdef PROBE_NVIDIA
#define OPERAND_BEFORE(x) x = io[0]
#define OPERAND_BEHIND(x)
#else
#define OPERAND_BEFORE(x) x
#define OPERAND_BEHIND(x) x = io[0];
#endif

#define ARGUMENTS global ulong *out, volatile global float *io, global const uint *chain, volatile global uint *words, \
                  local uint *near, uint stride
#define WARP_RESULT                                                                                                    \
    if (get_local_id(0) % 32 == 0)                                                                                     \
    out[get_local_id(0) / 32] = t1 - t0
#define REPEAT _Pragma("unroll") for (int i = 0; i < K; i++)
#define REPEAT_EIGHTHS _Pragma("unroll") for (int i = 0; i < K / 8; i++)

/* Each result is the next one's operand. */
#define DEPENDENT(name, OP)                                                                                            \
    kernel void name(ARGUMENTS)                                                                                        \
    {                                                                                                                  \
        ulong t0, t1;                                                                                                  \
        float y = io[1], OPERAND_BEFORE(x);                                                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        CLOCK(t0);                                                                                                     \
        OPERAND_BEHIND(x)                                                                                              \
        REPEAT OP(x);                                                                                                  \
        io[2 + get_local_id(0)] = x;                                                                                   \
        CLOCK(t1);                                                                                                     \
        WARP_RESULT;                                                                                                   \
    }

/* Eight chains in turn, so that no instruction waits for another. */
#define INDEPENDENT(name, OP)                                                                                          \
    kernel void name(ARGUMENTS)                                                                                        \
    {                                                                                                                  \
        ulong t0, t1;                                                                                                  \
        float y = io[1], OPERAND_BEFORE(a), b, c, d, e, f, g, h;                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        CLOCK(t0);                                                                                                     \
        OPERAND_BEHIND(a)                                                                                              \
        /* Equal chains would be computed once. */                                                                     \
        b = a * 1.25f, c = a * 1.5f, d = a * 1.75f, e = a * 2.5f, f = a * 3.0f, g = a * 3.5f, h = a * 5.0f;            \
        REPEAT_EIGHTHS                                                                                                 \
        {                                                                                                              \
            OP(a);                                                                                                     \
            OP(b);                                                                                                     \
            OP(c);                                                                                                     \
            OP(d);                                                                                                     \
            OP(e);                                                                                                     \
            OP(f);                                                                                                     \
            OP(g);                                                                                                     \
            OP(h);                                                                                                     \
        }                                                                                                              \
        io[2 + get_local_id(0)] = a + b + c + d + e + f + g + h;                                                       \
        CLOCK(t1);                                                                                                     \
        WARP_RESULT;                                                                                                   \
    }

DEPENDENT(add_dependent, ADD)
DEPENDENT(mul_dependent, MUL)
DEPENDENT(mad_dependent, MAD)
DEPENDENT(special_dependent, EX2)
DEPENDENT(cos_dependent, COS)
DEPENDENT(rsqrt_dependent, RSQRT)
INDEPENDENT(add_independent, ADD)
INDEPENDENT(mul_independent, MUL)
INDEPENDENT(mad_independent, MAD)
INDEPENDENT(special_independent, EX2)
INDEPENDENT(cos_independent, COS)
INDEPENDENT(rsqrt_independent, RSQRT)

/* Work-item i of a warp uses word (i * stride) mod 1024 of local memory: a stride of 2^k makes 2^k meet in a bank. */
#define NEAR_INDEX ((get_local_id(0) * stride) % 1024)

/* Each word holds its own index, which the compiler can't know. */
kernel void shared_load(ARGUMENTS)
{
    ulong t0, t1;
    for (uint i = (uint)get_local_id(0); i < 1024; i += (uint)get_local_size(0))
        near[i] = i;
    uint at = (uint)NEAR_INDEX;
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT at = near[at];
    io[2 + get_local_id(0)] = (float)at;
    CLOCK(t1);
    WARP_RESULT;
}

kernel void shared_store(ARGUMENTS)
{
    ulong t0, t1;
    volatile local uint *to = near + NEAR_INDEX;
    uint v = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT *to = v;
    io[2 + get_local_id(0)] = (float)v;
    CLOCK(t1);
    WARP_RESULT;
}

/* Follows a chain of indices through a buffer: each entry names the next, in random order, a cache line or more apart.
 * `stride` is where this run begins. */
kernel void global_load(ARGUMENTS)
{
    ulong t0, t1;
    uint at = stride;
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT at = chain[at];
    io[2 + get_local_id(0)] = (float)at;
    CLOCK(t1);
    WARP_RESULT;
    if (get_local_id(0) == 0)
        words[0] = at; /* where the next run begins, so that it finds nothing in a cache */
}

kernel void global_store(ARGUMENTS)
{
    ulong t0, t1;
    volatile global uint *to = words + 1 + get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT to[i * 32] = (uint)i;
    io[2 + get_local_id(0)] = 0;
    CLOCK(t1);
    WARP_RESULT;
}

kernel void atomic_dependent(ARGUMENTS)
{
    ulong t0, t1;
    uint v = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT v = atomic_or(words + 1 + get_local_id(0), v);
    io[2 + get_local_id(0)] = (float)v;
    CLOCK(t1);
    WARP_RESULT;
}

kernel void barriers(ARGUMENTS)
{
    ulong t0, t1;
    barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t0);
    REPEAT barrier(CLK_LOCAL_MEM_FENCE);
    CLOCK(t1);
    WARP_RESULT;
}
