/* SPDX-License-Identifier: MIT */
/* Four ways to sum n floats. Work-item g of all G takes the elements g, g + G, g + 2G, ... */
#ifdef PROBE_NVIDIA
static void add_global(volatile global float *p, float v)
{
    float old;
    asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(p), "f"(v) : "memory");
}

static void add_local(volatile local float *p, float v)
{
    float old;
    asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(p), "f"(v) : "memory");
}
#else
/* OpenCL C has no atomic addition of floats without an extension: compare and exchange until it holds. */
static void add_global(volatile global float *p, float v)
{
    uint old, seen = as_uint(*p);
    do {
        old = seen;
        seen = atomic_cmpxchg((volatile global uint *)p, old, as_uint(as_float(old) + v));
    } while (seen != old);
}

static void add_local(volatile local float *p, float v)
{
    uint old, seen = as_uint(*p);
    do {
        old = seen;
        seen = atomic_cmpxchg((volatile local uint *)p, old, as_uint(as_float(old) + v));
    } while (seen != old);
}
#endif

/* One accumulator for all: the order of the additions is that in which the work-items come. */
kernel void sum_atomic(global const float *x, ulong n, volatile global float *result)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        add_global(result, x[i]);
}

/* Defour's Listing 4, mended: an accumulator for each warp of 32 work-items, then one for each group. Only work-items of
 * one warp share an accumulator, so the result repeats where the device serves a warp's atomics in a fixed order. */
kernel void sum_warp(global const float *x, ulong n, volatile global float *result, volatile local float *accumulator)
{
    uint id = (uint)get_local_id(0), warps = (uint)get_local_size(0) / 32;
    if (id < warps)
        accumulator[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        add_local(&accumulator[id / 32], x[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < warps)
        add_global(&result[get_group_id(0)], accumulator[id]);
}

static void tree(local float *part, float v, global float *out)
{
    uint id = (uint)get_local_id(0);
    part[id] = v;
    for (uint step = (uint)get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step)
            part[id] += part[id + step];
    }
    if (id == 0)
        out[get_group_id(0)] = part[0];
}

/* The local size must be a power of two. A second launch of one group sums the groups' results. */
kernel void sum_tree(global const float *x, ulong n, global float *out, local float *part)
{
    float v = 0;
    ulong i = get_global_id(0), all = get_global_size(0);
    for (; i + 3 * all < n; i += 4 * all) { /* four loads on their way at once; the order stays */
        float a = x[i], b = x[i + all], c = x[i + 2 * all], d = x[i + 3 * all];
        v += a;
        v += b;
        v += c;
        v += d;
    }
    for (; i < n; i += all)
        v += x[i];
    tree(part, v, out);
}

#ifdef PROBE_INT64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
/* The digits of scheduler/probes/longacc.h: digit i counts units of 2^(32 i - 149). */
enum { DIGITS = 11, MAX_PENDING = 100, NAN_SEEN = 1, PLUS_INFINITY = 2, MINUS_INFINITY = 4, ANY = 8, NOT_MINUS_ZERO = 16 };

/* The work-item's own digits lie L apart, so that neighbours never meet in a bank. */
static void normalise(local long *digit, uint stride)
{
    long carry = 0;
    for (uint i = 0; i + 1 < DIGITS; i++) {
        long v = digit[i * stride] + carry;
        digit[i * stride] = v & 0xffffffffL;
        carry = v >> 32;
    }
    digit[(DIGITS - 1) * stride] += carry;
}

static uint add_exactly(local long *digit, uint stride, uint u)
{
    uint exponent = (u >> 23) & 0xff;
    if (exponent == 0xff)
        return u & 0x7fffff ? NAN_SEEN : u >> 31 ? MINUS_INFINITY : PLUS_INFINITY;
    uint shift = exponent ? exponent - 1 : 0;
    long v = (long)((u & 0x7fffff) | (exponent ? 0x800000 : 0)) << (shift % 32);
    digit[(shift / 32) * stride] += u >> 31 ? -v : v;
    return u != 0x80000000u ? NOT_MINUS_ZERO : 0;
}

/* Adds the exact sum's digits to result[0 ... DIGITS - 1] and its flags to the low half of result[DIGITS]: integer
 * additions alone between work-items, so the order of anything doesn't matter. `digits` is room for DIGITS * local size;
 * that a power of two. */
kernel void sum_exact(global const float *x, ulong n, volatile global ulong *result, local long *digits,
                      local uint *group_flags)
{
    uint id = (uint)get_local_id(0), size = (uint)get_local_size(0), seen = 0, pending = 0;
    local long *mine = digits + id;
    for (uint k = 0; k < DIGITS; k++)
        mine[k * size] = 0;
    if (id == 0)
        *group_flags = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong i = get_global_id(0), all = get_global_size(0);
    if (i < n)
        seen = ANY;
    for (; i + 3 * all < n; i += 4 * all) { /* four loads on their way at once */
        uint a = as_uint(x[i]), b = as_uint(x[i + all]), c = as_uint(x[i + 2 * all]), d = as_uint(x[i + 3 * all]);
        seen |= add_exactly(mine, size, a);
        seen |= add_exactly(mine, size, b);
        seen |= add_exactly(mine, size, c);
        seen |= add_exactly(mine, size, d);
        pending += 4;
        if (pending == MAX_PENDING) {
            normalise(mine, size);
            pending = 0;
        }
    }
    for (; i < n; i += all) /* three at most, for which the digits have room */
        seen |= add_exactly(mine, size, as_uint(x[i]));
    normalise(mine, size);
    if (seen)
        atomic_or(group_flags, seen);
    for (uint step = size / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; id < step && k < DIGITS; k++)
            mine[k * size] += mine[k * size + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = id; k < DIGITS; k += size)
        if (digits[k * size])
            atom_add(&result[k], (ulong)digits[k * size]);
    if (id == 0 && *group_flags)
        atomic_or((volatile global uint *)(result + DIGITS), *group_flags);
}
#endif
