/* SPDX-License-Identifier: MIT */
/* OpenCL C's built-in functions for kernels on the host, as far as generate.py uses them. Compiled with the same
 * instrumentation, so that what they touch is recorded. */
#include "tests/access/oracle/traced.h"

void oracle_trace(ulong address, ulong bytes, int how);
void oracle_barrier(void);

#define FUNCTION __attribute__((overloadable))
#define QUIET __attribute__((no_sanitize("kernel-address")))

#ifdef __opencl_c_generic_address_space
#define EACH_SPACE(X, ...) X(__VA_ARGS__, __global) X(__VA_ARGS__, __local) X(__VA_ARGS__, __private) X(__VA_ARGS__, __generic)
#else
#define EACH_SPACE(X, ...) X(__VA_ARGS__, __global) X(__VA_ARGS__, __local) X(__VA_ARGS__, __private)
#endif
#define EACH_COUNT(X, ...) X(__VA_ARGS__, 2) X(__VA_ARGS__, 3) X(__VA_ARGS__, 4) X(__VA_ARGS__, 8) X(__VA_ARGS__, 16)
#define EACH_INT(X) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#define EACH_TYPE(X) EACH_INT(X) X(float) X(double)

/* ---- vectors in memory ---- */

#define VLOAD(T, N, AS)                                                                                                \
    FUNCTION T##N vload##N(size_t i, const AS T *p)                                                                    \
    {                                                                                                                  \
        T##N v;                                                                                                        \
        for (int k = 0; k < N; k++)                                                                                    \
            ((__private T *)&v)[k] = p[i * N + k];                                                                     \
        return v;                                                                                                      \
    }
#define VSTORE(T, N, AS)                                                                                               \
    FUNCTION void vstore##N(T##N v, size_t i, AS T *p)                                                                 \
    {                                                                                                                  \
        for (int k = 0; k < N; k++)                                                                                    \
            p[i * N + k] = ((__private T *)&v)[k];                                                                     \
    }
#define MEMORY(T, N) EACH_SPACE(VLOAD, T, N) VLOAD(T, N, __constant) EACH_SPACE(VSTORE, T, N)
#define MEMORIES(T) EACH_COUNT(MEMORY, T)
EACH_TYPE(MEMORIES)

/* Halves are stored as the upper half of a float: it doesn't matter which number it is. */
#define LOAD_HALF(AS)                                                                                                  \
    FUNCTION float vload_half(size_t i, const AS half *p)                                                              \
    {                                                                                                                  \
        return as_float((uint)((const AS ushort *)p)[i] << 16);                                                        \
    }
#define LOAD_HALVES(N, APART, NAME, AS)                                                                                \
    FUNCTION float##N NAME##N(size_t i, const AS half *p)                                                              \
    {                                                                                                                  \
        float##N v;                                                                                                    \
        for (int k = 0; k < N; k++)                                                                                    \
            ((__private float *)&v)[k] = as_float((uint)((const AS ushort *)p)[i * APART + k] << 16);                  \
        return v;                                                                                                      \
    }
#define STORE_HALF(F, ROUND, AS)                                                                                       \
    FUNCTION void vstore_half##ROUND(F v, size_t i, AS half *p)                                                        \
    {                                                                                                                  \
        ((AS ushort *)p)[i] = (ushort)(as_uint((float)v) >> 16);                                                       \
    }
#define STORE_HALVES(F, N, APART, NAME, ROUND, AS)                                                                     \
    FUNCTION void NAME##N##ROUND(F##N v, size_t i, AS half *p)                                                         \
    {                                                                                                                  \
        for (int k = 0; k < N; k++)                                                                                    \
            ((AS ushort *)p)[i * APART + k] = (ushort)(as_uint((float)((__private F *)&v)[k]) >> 16);                  \
        if (APART > N) /* PoCL writes all of it */                                                                     \
            oracle_trace((ulong)((AS ushort *)p + i * APART + N), 2 * (APART - N), TRACED_MAY);                        \
    }
#define ROUNDED(F, ROUND)                                                                                              \
    EACH_SPACE(STORE_HALF, F, ROUND)                                                                                   \
    EACH_SPACE(STORE_HALVES, F, 2, 2, vstore_half, ROUND)                                                              \
    EACH_SPACE(STORE_HALVES, F, 3, 3, vstore_half, ROUND)                                                              \
    EACH_SPACE(STORE_HALVES, F, 4, 4, vstore_half, ROUND)                                                              \
    EACH_SPACE(STORE_HALVES, F, 8, 8, vstore_half, ROUND)                                                              \
    EACH_SPACE(STORE_HALVES, F, 16, 16, vstore_half, ROUND)                                                            \
    EACH_SPACE(STORE_HALVES, F, 2, 2, vstorea_half, ROUND)                                                             \
    EACH_SPACE(STORE_HALVES, F, 3, 4, vstorea_half, ROUND)                                                             \
    EACH_SPACE(STORE_HALVES, F, 4, 4, vstorea_half, ROUND)                                                             \
    EACH_SPACE(STORE_HALVES, F, 8, 8, vstorea_half, ROUND)                                                             \
    EACH_SPACE(STORE_HALVES, F, 16, 16, vstorea_half, ROUND)
ROUNDED(float, )
ROUNDED(float, _rte)
ROUNDED(float, _rtz)
ROUNDED(float, _rtp)
ROUNDED(float, _rtn)
ROUNDED(double, )
#define HALVES_IN(NAME, AS)                                                                                            \
    LOAD_HALVES(2, 2, NAME, AS)                                                                                        \
    LOAD_HALVES(4, 4, NAME, AS)                                                                                        \
    LOAD_HALVES(8, 8, NAME, AS)                                                                                        \
    LOAD_HALVES(16, 16, NAME, AS)
#define LOADS(AS)                                                                                                      \
    LOAD_HALF(AS)                                                                                                      \
    HALVES_IN(vload_half, AS)                                                                                          \
    HALVES_IN(vloada_half, AS)                                                                                         \
    LOAD_HALVES(3, 3, vload_half, AS)                                                                                  \
    LOAD_HALVES(3, 4, vloada_half, AS)
LOADS(__global)
LOADS(__local)
LOADS(__private)
LOADS(__constant)
#ifdef __opencl_c_generic_address_space
LOADS(__generic)
#endif

/* ---- of the work-group ---- */

FUNCTION void barrier(uint flags)
{
    oracle_barrier();
}

FUNCTION void mem_fence(uint flags)
{
}

#ifdef __opencl_c_generic_address_space
FUNCTION void work_group_barrier(uint flags)
{
    oracle_barrier();
}
#endif

/* Each work-item does it for all. */
#define COPIES(T)                                                                                                      \
    FUNCTION event_t async_work_group_copy(__local T *to, const __global T *from, size_t n, event_t e)                 \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            to[i] = from[i];                                                                                           \
        return e;                                                                                                      \
    }                                                                                                                  \
    FUNCTION event_t async_work_group_copy(__global T *to, const __local T *from, size_t n, event_t e)                 \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            to[i] = from[i];                                                                                           \
        return e;                                                                                                      \
    }                                                                                                                  \
    FUNCTION event_t async_work_group_strided_copy(__local T *to, const __global T *from, size_t n, size_t stride,     \
                                                   event_t e)                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            to[i] = from[i * stride];                                                                                  \
        return e;                                                                                                      \
    }                                                                                                                  \
    FUNCTION event_t async_work_group_strided_copy(__global T *to, const __local T *from, size_t n, size_t stride,     \
                                                   event_t e)                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            to[i * stride] = from[i];                                                                                  \
        return e;                                                                                                      \
    }                                                                                                                  \
    FUNCTION void prefetch(const __global T *p, size_t n)                                                              \
    {                                                                                                                  \
    }
#define COPIES_OF(T, N) COPIES(T##N)
#define ALL_COPIES(T) COPIES(T) COPIES_OF(T, 2) COPIES_OF(T, 4) COPIES_OF(T, 8) COPIES_OF(T, 16)
EACH_TYPE(ALL_COPIES)

/* ---- atomics: nobody else is there ---- */

#define ATOMIC(T, NAME, AS, ...)                                                                                       \
    FUNCTION QUIET T NAME(volatile AS T *p, T v)                                                                       \
    {                                                                                                                  \
        const T old = *p;                                                                                              \
        oracle_trace((ulong)p, sizeof *p, TRACED_ATOMIC);                                                              \
        *p = __VA_ARGS__;                                                                                              \
        return old;                                                                                                    \
    }
#define ATOMIC_ONE(T, NAME, AS, ...)                                                                                   \
    FUNCTION QUIET T NAME(volatile AS T *p)                                                                            \
    {                                                                                                                  \
        const T old = *p;                                                                                              \
        oracle_trace((ulong)p, sizeof *p, TRACED_ATOMIC);                                                              \
        *p = __VA_ARGS__;                                                                                              \
        return old;                                                                                                    \
    }
#define ATOMICS(T, AS)                                                                                                 \
    ATOMIC(T, atomic_add, AS, old + v)                                                                                 \
    ATOMIC(T, atomic_sub, AS, old - v)                                                                                 \
    ATOMIC(T, atomic_xchg, AS, v)                                                                                      \
    ATOMIC(T, atomic_min, AS, old < v ? old : v)                                                                       \
    ATOMIC(T, atomic_max, AS, old > v ? old : v)                                                                       \
    ATOMIC(T, atomic_and, AS, old & v)                                                                                 \
    ATOMIC(T, atomic_or, AS, old | v)                                                                                  \
    ATOMIC(T, atomic_xor, AS, old ^ v)                                                                                 \
    ATOMIC_ONE(T, atomic_inc, AS, old + 1)                                                                             \
    ATOMIC_ONE(T, atomic_dec, AS, old - 1)
ATOMICS(int, __global)
ATOMICS(uint, __global)
ATOMICS(int, __local)
ATOMICS(uint, __local)

/* ---- numbers ---- */

#define SCALARS(T)                                                                                                     \
    FUNCTION T min(T a, T b)                                                                                           \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    FUNCTION T max(T a, T b)                                                                                           \
    {                                                                                                                  \
        return a > b ? a : b;                                                                                          \
    }                                                                                                                  \
    FUNCTION T clamp(T v, T lo, T hi)                                                                                  \
    {                                                                                                                  \
        return min(max(v, lo), hi);                                                                                    \
    }
EACH_INT(SCALARS)
#define EACH_COMPONENT(T, N, E)                                                                                        \
    T##N out;                                                                                                          \
    for (int k = 0; k < N; k++)                                                                                        \
        ((__private T *)&out)[k] = E;                                                                                  \
    return out;
#define VECTORS(T, N)                                                                                                  \
    FUNCTION T##N min(T##N a, T##N b)                                                                                  \
    {                                                                                                                  \
        EACH_COMPONENT(T, N, min(((__private T *)&a)[k], ((__private T *)&b)[k]))                                      \
    }                                                                                                                  \
    FUNCTION T##N max(T##N a, T##N b)                                                                                  \
    {                                                                                                                  \
        EACH_COMPONENT(T, N, max(((__private T *)&a)[k], ((__private T *)&b)[k]))                                      \
    }
#define ALL_VECTORS(T) EACH_COUNT(VECTORS, T)
EACH_INT(ALL_VECTORS)

#define ABS(S, U)                                                                                                      \
    FUNCTION U abs(S a)                                                                                                \
    {                                                                                                                  \
        return a < 0 ? (U)0 - (U)a : (U)a;                                                                             \
    }                                                                                                                  \
    FUNCTION U abs(U a)                                                                                                \
    {                                                                                                                  \
        return a;                                                                                                      \
    }                                                                                                                  \
    FUNCTION U abs_diff(S a, S b)                                                                                      \
    {                                                                                                                  \
        return a < b ? (U)b - (U)a : (U)a - (U)b;                                                                      \
    }                                                                                                                  \
    FUNCTION U abs_diff(U a, U b)                                                                                      \
    {                                                                                                                  \
        return a < b ? b - a : a - b;                                                                                  \
    }
ABS(char, uchar)
ABS(short, ushort)
ABS(int, uint)
ABS(long, ulong)

#define PRODUCTS(T)                                                                                                    \
    FUNCTION T mul24(T a, T b)                                                                                         \
    {                                                                                                                  \
        return (T)((((uint)a << 8) >> 8) * (((uint)b << 8) >> 8));                                                     \
    }                                                                                                                  \
    FUNCTION T mad24(T a, T b, T c)                                                                                    \
    {                                                                                                                  \
        return mul24(a, b) + c;                                                                                        \
    }
FUNCTION int mul24(int a, int b)
{
    return (int)((uint)((int)((uint)a << 8) >> 8) * (uint)((int)((uint)b << 8) >> 8));
}
FUNCTION int mad24(int a, int b, int c)
{
    return mul24(a, b) + c;
}
PRODUCTS(uint)

#define SELECT(T, S, U)                                                                                                \
    FUNCTION T select(T a, T b, S c)                                                                                   \
    {                                                                                                                  \
        return c ? b : a;                                                                                              \
    }                                                                                                                  \
    FUNCTION T select(T a, T b, U c)                                                                                   \
    {                                                                                                                  \
        return c ? b : a;                                                                                              \
    }
SELECT(int, int, uint)
SELECT(uint, int, uint)
SELECT(long, long, ulong)
SELECT(ulong, long, ulong)

#define CONVERT(FROM, TO, N)                                                                                           \
    FUNCTION TO##N convert_##TO##N(FROM##N a)                                                                          \
    {                                                                                                                  \
        EACH_COMPONENT(TO, N, (TO)((__private FROM *)&a)[k])                                                           \
    }
#define CONVERT_ONE(FROM, TO)                                                                                          \
    FUNCTION TO convert_##TO(FROM a)                                                                                   \
    {                                                                                                                  \
        return (TO)a;                                                                                                  \
    }                                                                                                                  \
    EACH_COUNT(CONVERT, FROM, TO)
#define CONVERTS(FROM)                                                                                                 \
    CONVERT_ONE(FROM, char)                                                                                            \
    CONVERT_ONE(FROM, uchar)                                                                                           \
    CONVERT_ONE(FROM, short)                                                                                           \
    CONVERT_ONE(FROM, ushort)                                                                                          \
    CONVERT_ONE(FROM, int)                                                                                             \
    CONVERT_ONE(FROM, uint)                                                                                            \
    CONVERT_ONE(FROM, long)                                                                                            \
    CONVERT_ONE(FROM, ulong)                                                                                           \
    CONVERT_ONE(FROM, float)
EACH_INT(CONVERTS)
CONVERTS(float)
